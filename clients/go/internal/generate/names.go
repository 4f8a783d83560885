package main

import (
	"regexp"
	"strings"
	"unicode"
)

// initialisms are words that Go writes in another way than with a capital letter.
var initialisms = map[string]string{
	"aarch64": "AArch64", "api": "API", "cidr": "CIDR", "cpu": "CPU", "dhcp": "DHCP", "dns": "DNS", "gib": "GiB", "id": "ID", "ids": "IDs",
	"ip": "IP", "ips": "IPs", "ipv4": "IPv4", "ipv6": "IPv6", "icmp": "ICMP", "icmpv6": "ICMPv6", "iops": "IOPS", "iso": "ISO", "json": "JSON", "mib": "MiB",
	"os": "OS", "ram": "RAM", "snat": "SNAT", "ssh": "SSH", "tcp": "TCP", "totp": "TOTP", "udp": "UDP", "url": "URL", "vcpu": "VCPU",
	"vm": "VM", "vms": "VMs", "vnc": "VNC",
}

var wordEnd = regexp.MustCompile(`[^A-Za-z0-9]+|([a-z0-9])([A-Z])`)

// goName is the exported Go name of what the document calls vmId, PAST_DUE, ssh_key or -createdAt.
func goName(name string) string {
	if strings.HasPrefix(name, "-") {
		return goName(name[1:]) + "Desc"
	}
	if name == strings.ToUpper(name) {
		name = strings.ToLower(name)
	}
	var text strings.Builder
	for _, word := range strings.Fields(wordEnd.ReplaceAllString(name, "$1 $2")) {
		if known, ok := initialisms[strings.ToLower(word)]; ok {
			text.WriteString(known)
			continue
		}
		text.WriteString(string(unicode.ToUpper(rune(word[0]))) + word[1:])
	}
	return text.String()
}

// parameterName is the name of a parameter: vmID, id.
func parameterName(name string) string {
	exported := goName(name)
	for i, r := range exported {
		if !unicode.IsUpper(r) {
			end := max(i-1, 1)
			return strings.ToLower(exported[:end]) + exported[end:]
		}
	}
	return strings.ToLower(exported)
}

func singular(name string) string { return strings.TrimSuffix(name, "s") }

// typeNames names what the document leaves anonymous, by one of the places where it is; the other places are found by comparison. What is
// not listed is called after its place.
var typeNames = map[string]string{
	"Plan.storage":                     "Storage",
	"Member.role":                      "Role",
	"Initialization.status":            "InitializationStatus",
	"Vm.status":                        "VMStatus",
	"Vm.region":                        "RegionRef",
	"Vm.currentAction":                 "CurrentAction",
	"Vm.placementGroup":                "Ref",
	"Vm.reverseNameState":              "ReverseNameState",
	"Vm.billing":                       "VMBilling",
	"Vm.billing.status":                "VMBillingStatus",
	"Volume.billing":                   "Billing",
	"Volume.billing.status":            "BillingStatus",
	"Backup.consistency":               "Consistency",
	"Availability.region":              "SlugRef",
	"PaymentEventData.wallet":          "WalletBalance",
	"Alert.metric":                     "AlertMetric",
	"Alert.comparison":                 "AlertComparison",
	"OpenConsole.type":                 "ConsoleType",
	"AddRule.direction":                "RuleDirection",
	"AddRule.action":                   "RuleAction",
	"AddRule.protocol":                 "RuleProtocol",
	"CheckPacket.protocol":             "PacketProtocol",
	"CreateImage.arch":                 "Architecture",
	"StartBulkAction.action":           "BulkAction",
	"CreateProject.budget":             "NewBudget",
	"CreateWebhook.events[]":           "EventType",
	"ListWalletTransactionsQuery.kind": "TransactionKind",
	"ListVMsQuery.sort":                "VMSort",
	"DeleteSSHKeyResult":               "Deleted",
	"TestWebhookResult":                "WebhookTest",
}

// constantPrefixes are prefixes of constants that are not the name of their type.
var constantPrefixes = map[string]string{"EventType": "Event", "ErrorCode": "Code"}

// constantNames are values of which no name could be made by rule.
var constantNames = map[string]string{"x86_64": "X86_64"}
