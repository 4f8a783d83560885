//go:build product

package berth_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/berth-cloud/berth-go"
)

// product is the server that BERTH_URL and BERTH_TOKEN name, with simulated hosts: npm run test:clients starts one.
type product struct {
	*testing.T
	*berth.Client
	ctx    context.Context
	name   string
	labels map[string]string
	events chan *berth.Event
}

// must returns the value, or ends the test.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func startProduct(t *testing.T) *product {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	client := must[*berth.Client](t)(berth.NewClient(os.Getenv("BERTH_URL"), os.Getenv("BERTH_TOKEN"), berth.WithApplication("product-test", "1.0")))
	name := fmt.Sprintf("go-%d", time.Now().UnixNano())
	return &product{T: t, Client: client, ctx: ctx, name: name, labels: map[string]string{"client": name}, events: make(chan *berth.Event, 1000)}
}

// follow streams all events after the last one until that of the given type.
func (p *product) follow(last berth.EventType) {
	seen := must[[]*berth.Event](p.T)(berth.Collect(p.Event.All(p.ctx, berth.ListEventsQuery{})))
	opened := make(chan struct{})
	options := berth.StreamOptions{After: "0", OnOpen: func() { close(opened) }}
	if len(seen) > 0 {
		options.After = seen[len(seen)-1].Cursor
	}
	go func() {
		defer close(p.events)
		for event, err := range p.Event.Stream(p.ctx, options) {
			if err != nil {
				p.Error(err)
				return
			}
			p.events <- event
			if event.Type == last {
				return
			}
		}
	}()
	<-opened
}

func (p *product) wait(vmID, actionID string) {
	p.Helper()
	action := must[*berth.Action](p.T)(p.Action.WaitFor(p.ctx, vmID, actionID, berth.WaitOptions{}))
	if action.Status != berth.ActionStatusCompleted {
		p.Fatalf("%s is %s", action.Action, action.Status)
	}
}

func publicKey() string {
	key, _, _ := ed25519.GenerateKey(rand.Reader)
	var text []byte
	for _, part := range [][]byte{[]byte("ssh-ed25519"), key} {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(part))), part...)
	}
	return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(text)
}

func TestProduct(t *testing.T) {
	p := startProduct(t)
	p.follow(berth.EventVMTerminated)
	region := must[[]berth.Region](t)(p.Region.List(p.ctx))[0]
	template := must[*berth.OSTemplate](t)(p.OSTemplate.Get(p.ctx, "debian-12"))
	node := must[[]berth.Node](t)(p.Region.Nodes(p.ctx, region.ID))[0]

	key := p.createKey()
	network := must[*berth.Network](t)(p.Network.Create(p.ctx, berth.CreateNetwork{Name: p.name, NodeID: node.ID, CIDR: fmt.Sprintf("172.31.%d.0/24", time.Now().Nanosecond()%256), Labels: p.labels}))
	firewall := must[*berth.Firewall](t)(p.Firewall.Create(p.ctx, berth.CreateFirewall{Name: p.name, Labels: p.labels}))
	rule := berth.RuleInput{Direction: berth.RuleDirectionIn, Action: berth.RuleActionAccept, Protocol: berth.RuleProtocolTCP, Port: berth.Value("22")}
	must[[]berth.FirewallRule](t)(p.Firewall.ReplaceRules(p.ctx, firewall.ID, berth.ReplaceRules{Rules: []berth.RuleInput{rule}}))
	address := must[*berth.Address](t)(p.Address.Reserve(p.ctx, berth.ReserveAddress{RegionID: region.ID, Labels: p.labels}))
	volume := must[*berth.Volume](t)(p.Volume.Create(p.ctx, berth.CreateVolume{RegionID: region.ID, Name: p.name, SizeGiB: 10, Labels: p.labels}))

	vmID := p.createVM(berth.CreateVM{
		RegionID: region.ID, OSTemplateID: &template.ID, Hostname: p.name, Labels: p.labels,
		SSHKeyIDs: []string{key.ID}, FirewallIDs: []string{firewall.ID}, PrivateNetworkIDs: []string{network.ID},
	})
	attached := must[*berth.VolumeChanging](t)(p.Volume.Attach(p.ctx, volume.ID, berth.AttachVolume{VMID: vmID}))
	p.wait(vmID, attached.ActionID)
	assigned := must[*berth.AddressMoving](t)(p.Address.Assign(p.ctx, address.ID, berth.AssignAddress{VMID: vmID}))
	p.wait(vmID, assigned.ActionID)
	p.checkLists(vmID)

	detached := must[*berth.VolumeChanging](t)(p.Volume.Detach(p.ctx, volume.ID))
	p.wait(vmID, detached.ActionID)
	unassigned := must[*berth.AddressMoving](t)(p.Address.Unassign(p.ctx, address.ID, berth.UnassignAddressQuery{}))
	p.wait(vmID, unassigned.ActionID)
	deleted := must[*berth.ActionStarted](t)(p.VM.Delete(p.ctx, vmID))
	p.wait(vmID, deleted.ActionID)
	must[*berth.DeletedVolume](t)(p.Volume.Delete(p.ctx, volume.ID))
	must[*berth.ReleasedAddress](t)(p.Address.Release(p.ctx, address.ID))
	must[*berth.Deleted](t)(p.Firewall.Delete(p.ctx, firewall.ID))
	must[*berth.DeletedNetwork](t)(p.Network.Delete(p.ctx, network.ID))
	must[*berth.Deleted](t)(p.SSHKey.Delete(p.ctx, key.ID))
	p.checkGone(key.ID, vmID)
	p.checkEvents(vmID)
}

// createKey creates it twice with one idempotency key.
func (p *product) createKey() *berth.SSHKey {
	body := berth.CreateSSHKey{Name: p.name, PublicKey: publicKey(), Labels: p.labels}
	once := berth.IdempotencyKey(p.name)
	key := must[*berth.SSHKey](p.T)(p.SSHKey.Create(p.ctx, body, once))
	if again := must[*berth.SSHKey](p.T)(p.SSHKey.Create(p.ctx, body, once)); again.ID != key.ID {
		p.Errorf("two keys: %s and %s", key.ID, again.ID)
	}
	return key
}

func (p *product) createVM(body berth.CreateVM) string {
	quote := must[*berth.CreateQuote](p.T)(p.VM.QuoteCreate(p.ctx, body))
	if quote.Charge == "" || quote.Currency == "" {
		p.Errorf("the quote is %+v", quote)
	}
	created := must[*berth.VMCreated](p.T)(p.VM.Create(p.ctx, body))
	var progress []int
	options := berth.WaitOptions{Timeout: 2 * time.Minute, OnProgress: func(action *berth.Action) { progress = append(progress, action.Progress) }}
	must[*berth.Action](p.T)(p.Action.WaitFor(p.ctx, created.VM.ID, created.ActionID, options))
	if !slices.IsSorted(progress) || progress[len(progress)-1] != 100 {
		p.Errorf("progress is %v", progress)
	}
	return created.VM.ID
}

func (p *product) checkLists(vmID string) {
	var vms []string
	for vm, err := range p.VM.All(p.ctx, berth.ListVMsQuery{LabelSelector: "client=" + p.name, Limit: 1}) {
		vms = append(vms, must[*berth.VMListItem](p.T)(vm, err).ID)
	}
	if !slices.Equal(vms, []string{vmID}) {
		p.Errorf("VMs are %v", vms)
	}
	vm := must[*berth.VM](p.T)(p.VM.Get(p.ctx, vmID))
	if vm.Status != berth.VMStatusRunning || len(vm.SSHKeys) != 1 || len(vm.Firewalls) != 1 || len(vm.PrivateNetworks) != 1 || vm.PrivateNetworks[0].IPAddress == "" {
		p.Errorf("the VM is %+v", vm)
	}
	for _, count := range []int{
		len(must[*berth.Page[berth.Volume]](p.T)(p.Volume.List(p.ctx, berth.ListVolumesQuery{LabelSelector: "client=" + p.name})).Items),
		len(must[*berth.Page[berth.Address]](p.T)(p.Address.List(p.ctx, berth.ListAddressesQuery{LabelSelector: "client=" + p.name})).Items),
		len(must[[]*berth.SSHKey](p.T)(berth.Collect(p.SSHKey.All(p.ctx, berth.ListSSHKeysQuery{LabelSelector: "client=" + p.name})))),
		len(must[[]*berth.Network](p.T)(berth.Collect(p.Network.All(p.ctx, berth.ListNetworksQuery{LabelSelector: "client=" + p.name})))),
		len(must[[]*berth.Firewall](p.T)(berth.Collect(p.Firewall.All(p.ctx, berth.ListFirewallsQuery{LabelSelector: "client=" + p.name})))),
	} {
		if count != 1 {
			p.Errorf("a list has %d items", count)
		}
	}
}

func (p *product) checkGone(keyID, vmID string) {
	if _, err := p.SSHKey.Get(p.ctx, keyID); !berth.IsCode(err, berth.CodeNotFound) {
		p.Errorf("the key: %v", err)
	}
	if _, err := p.VM.Get(p.ctx, vmID); !berth.IsCode(err, berth.CodeNotFound) {
		p.Errorf("the VM: %v", err)
	}
}

// checkEvents finds the life of the VM in the stream, without a gap.
func (p *product) checkEvents(vmID string) {
	var types []berth.EventType
	previous := 0
	for event := range p.events {
		cursor := must[int](p.T)(strconv.Atoi(event.Cursor))
		if previous != 0 && cursor != previous+1 {
			p.Errorf("event %d follows %d", cursor, previous)
		}
		previous = cursor
		if data, ok := must[any](p.T)(event.Payload()).(*berth.VMEventData); ok && data.VM.ID == vmID {
			types = append(types, event.Type)
		}
	}
	for _, expected := range []berth.EventType{berth.EventVMCreated, berth.EventVMStarted, berth.EventVMTerminated} {
		if !slices.Contains(types, expected) {
			p.Errorf("events of the VM are %v", types)
		}
	}
}
