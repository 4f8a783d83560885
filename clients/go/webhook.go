package berth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	secretPrefix     = "whsec_"
	defaultTolerance = 5 * time.Minute
)

// VerifyOption is an option of [VerifyWebhook].
type VerifyOption func(*verifyOptions)

type verifyOptions struct {
	tolerance time.Duration
	now       time.Time
}

// Tolerance is the largest accepted difference between webhook-timestamp and now, for clock skew and late deliveries. Default: five minutes.
func Tolerance(tolerance time.Duration) VerifyOption {
	return func(o *verifyOptions) { o.tolerance = tolerance }
}

// Now is used instead of the current time.
func Now(now time.Time) VerifyOption {
	return func(o *verifyOptions) { o.now = now }
}

// VerifyWebhook returns the event, or a [*WebhookError] (https://www.standardwebhooks.com). The signature covers the bytes of the body: pass the raw body, not
// one that was parsed and serialised again. After a rotation of the secret the header holds several signatures: one must match.
func VerifyWebhook(payload []byte, header http.Header, secret string, options ...VerifyOption) (*Event, error) {
	all := verifyOptions{tolerance: defaultTolerance, now: time.Now()}
	for _, option := range options {
		option(&all)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || len(key) == 0 {
		return nil, &ArgumentError{"the secret must be that of the webhook subscription, whsec_…"}
	}
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		if header.Get(name) == "" {
			return nil, &WebhookError{fmt.Sprintf("the header %s is missing", strings.ToLower(name))}
		}
	}
	if err := all.check(header.Get("Webhook-Timestamp")); err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), payload)
	if !anyMatches(header.Get("Webhook-Signature"), mac.Sum(nil)) {
		return nil, &WebhookError{"no signature matches: the secret is wrong, or the body was modified"}
	}
	var event Event
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	return &event, nil
}

func (o verifyOptions) check(timestamp string) error {
	sent, err := strconv.ParseUint(timestamp, 10, 64)
	if err != nil {
		return &WebhookError{"the header webhook-timestamp is not a Unix timestamp"}
	}
	age := float64(o.now.UnixMilli())/1000 - float64(sent)
	switch {
	case math.Abs(age) <= o.tolerance.Seconds():
		return nil
	case age > 0:
		return &WebhookError{"the message is too old: it may be a replay"}
	}
	return &WebhookError{"the message is from the future: check the clock of this machine"}
}

// anyMatches compares in constant time, so that timing reveals nothing about the right signature.
func anyMatches(signatures string, right []byte) bool {
	matches := false
	for each := range strings.SplitSeq(signatures, " ") {
		text, ok := strings.CutPrefix(each, "v1,")
		candidate, err := base64.StdEncoding.DecodeString(text)
		matches = ok && err == nil && hmac.Equal(candidate, right) || matches
	}
	return matches
}
