package berth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/berth-cloud/berth-go"
)

var (
	ctx       = context.Background()
	client, _ = berth.NewClient("https://cloud.example.com", "vmk_example")
	vm        = &berth.VMListItem{ID: "cvm000000001"}
	region    berth.Region
	template  berth.OSTemplate
)

// A VM, from nothing to the command that logs in to it.
func Example() {
	ctx := context.Background()
	client, err := berth.NewClient(os.Getenv("BERTH_URL"), os.Getenv("BERTH_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	regions, err := client.Region.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	template, err := client.OSTemplate.Get(ctx, "debian-12")
	if err != nil {
		log.Fatal(err)
	}
	key, err := client.SSHKey.Create(ctx, berth.CreateSSHKey{Name: "laptop", PublicKey: os.Getenv("SSH_PUBLIC_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	created, err := client.VM.Create(ctx, berth.CreateVM{
		RegionID: regions[0].ID, OSTemplateID: &template.ID, Hostname: "web-1", SSHKeyIDs: []string{key.ID},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Action.WaitFor(ctx, created.VM.ID, created.ActionID, berth.WaitOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ssh root@" + *created.VM.IPAddress)
}

func ExampleVMService_All() {
	for vm, err := range client.VM.All(ctx, berth.ListVMsQuery{Status: berth.VMStatusRunning}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(vm.Name, vm.RAM)
	}

	keys, err := berth.Collect(client.SSHKey.All(ctx, berth.ListSSHKeysQuery{}))
	page, err := client.Wallet.Transactions(ctx, berth.ListWalletTransactionsQuery{Page: 1, Limit: 5})
	fmt.Println(len(keys), page.Pagination.Total, err)
}

func ExampleActionService_WaitFor() {
	restart, err := client.VM.Restart(ctx, vm.ID, nil)
	if err != nil {
		log.Fatal(err)
	}
	action, err := client.Action.WaitFor(ctx, vm.ID, restart.ActionID, berth.WaitOptions{
		Timeout:    10 * time.Minute,
		OnProgress: func(action *berth.Action) { fmt.Println(action.Action, action.Progress) },
	})
	var failed *berth.ActionError
	if errors.As(err, &failed) {
		log.Fatalf("%s: %v", failed.Action.ID, err)
	}
	fmt.Println(action.Status)
}

func ExampleVMService_QuoteCreate() {
	quote, err := client.VM.QuoteCreate(ctx, berth.CreateVM{RegionID: region.ID, OSTemplateID: &template.ID, Hostname: "web-2"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(quote.Charge, quote.Currency, "now,", quote.Monthly, "a month")
}

func ExampleNullable() {
	print := func(body berth.UpdateVM) {
		text, _ := json.Marshal(body)
		fmt.Println(string(text))
	}
	print(berth.UpdateVM{Name: berth.Ptr("web-1"), IsProtected: berth.Ptr(false)})
	print(berth.UpdateVM{ReverseName: berth.Value("www.example.com")})
	print(berth.UpdateVM{ReverseName: berth.Null[string]()})
	// Output:
	// {"name":"web-1","isProtected":false}
	// {"reverseName":"www.example.com"}
	// {"reverseName":null}
}

func ExampleIsCode() {
	_, err := client.VM.Get(ctx, "cdoesnotexist")
	if berth.IsCode(err, berth.CodeNotFound) {
		fmt.Println("there is none")
	}
	var refused *berth.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.Message, refused.RequestID, refused.Fields)
	}
}

func ExampleIdempotencyKey() {
	first, err := client.Firewall.Create(ctx, berth.CreateFirewall{Name: "web"}, berth.IdempotencyKey("order-1"))
	if err != nil {
		log.Fatal(err)
	}
	second, err := client.Firewall.Create(ctx, berth.CreateFirewall{Name: "web"}, berth.IdempotencyKey("order-1"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.ID == second.ID) // true
}

func ExampleEventService_Stream() {
	for event, err := range client.Event.Stream(ctx, berth.StreamOptions{After: "0"}) {
		if err != nil {
			log.Fatal(err)
		}
		payload, err := event.Payload()
		if err != nil {
			log.Fatal(err)
		}
		if data, ok := payload.(*berth.VMEventData); ok {
			fmt.Println(event.Cursor, event.Type, data.VM.Name)
		}
		break // ends the stream
	}
}

func ExampleVerifyWebhook() {
	http.HandleFunc("POST /berth", func(w http.ResponseWriter, r *http.Request) {
		payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			return
		}
		event, err := berth.VerifyWebhook(payload, r.Header, os.Getenv("WEBHOOK_SECRET"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Println(event.Type)
		w.WriteHeader(http.StatusNoContent)
	})
}

func ExampleWithSleep() {
	client, err := berth.NewClient("https://cloud.example.com", os.Getenv("BERTH_TOKEN"),
		berth.WithApplication("deployer", "1.2.0"),
		berth.WithMaxRetries(10),
		berth.WithSleep(func(ctx context.Context, pause time.Duration, reason error) error {
			log.Printf("again in %v: %v", pause, reason)
			select {
			case <-time.After(pause):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}),
	)
	fmt.Println(client, err)
}

func ExampleClient_Request() {
	var regions []berth.Region
	err := client.Request(ctx, "GET", "/regions", nil, &regions)
	fmt.Println(len(regions), err)
}
