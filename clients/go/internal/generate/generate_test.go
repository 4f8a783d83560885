package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const openAPI = "../../../../openapi/v1.json"

func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generate(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		committed, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(committed) != text {
			t.Errorf("%s is stale: go generate", name)
		}
	}
}

// changedDocument is the document with one text in place of another.
func changedDocument(t *testing.T, old, new string) string {
	text, err := os.ReadFile(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %s", openAPI, old)
	}
	path := filepath.Join(t.TempDir(), "v1.json")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, new)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNewOperationNeedsAMethod(t *testing.T) {
	_, err := generate(changedDocument(t, `"operationId": "restartVm"`, `"operationId": "sendVm"`))
	if err == nil || !strings.Contains(err.Error(), "has no method for sendVm (POST /vms/{id}/restart)") {
		t.Errorf("%v", err)
	}
}

func TestMethodsNeedAnOperation(t *testing.T) {
	path := changedDocument(t, `"operationId": "restartVm"`, `"operationId": "startVm"`)
	if _, err := generate(path); err == nil || !strings.Contains(err.Error(), "operations.go has restartVm, which is no operation") {
		t.Errorf("%v", err)
	}
}

func TestNamesThatNameNothingAreRefused(t *testing.T) {
	_, err := generate(changedDocument(t, `"name": "sort"`, `"name": "order"`))
	if err == nil || !strings.Contains(err.Error(), "names ListVMsQuery.sort, which is nowhere") {
		t.Errorf("%v", err)
	}
}

func TestGoName(t *testing.T) {
	for name, expected := range map[string]string{
		"vmId": "VMID", "PAST_DUE": "PastDue", "ssh_key": "SSHKey", "-createdAt": "CreatedAtDesc", "vm.created": "VMCreated", "publicIpv4": "PublicIPv4",
		"diskMiBPerSecond": "DiskMiBPerSecond", "sizeGiB": "SizeGiB", "read-only": "ReadOnly", "aarch64": "AArch64", "osTemplateId": "OSTemplateID",
	} {
		if got := goName(name); got != expected {
			t.Errorf("%s is %s", name, got)
		}
	}
}
