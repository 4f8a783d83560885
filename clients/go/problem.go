package berth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// problem is the body of an error: problem+json, or only a sentence.
type problem struct {
	Detail       string        `json:"detail"`
	Code         ErrorCode     `json:"code"`
	RequestID    string        `json:"requestId"`
	Errors       []FieldError  `json:"errors"`
	Missing      []string      `json:"missing"`
	Alternatives *Alternatives `json:"alternatives"`
	Sentence     string        `json:"error"`
}

func errorOf(prepared *attempt, response *http.Response, text []byte) *Error {
	var body problem
	if json.Unmarshal(text, &body) != nil {
		body = problem{} // the page of a proxy
	}
	e := &Error{
		Status:     response.StatusCode,
		Code:       firstOf(body.Code, ErrorCode(response.Header.Get("X-Error-Code")), CodeUnknown),
		Message:    firstOf(body.Detail, body.Sentence, unexpected(prepared, response)),
		RequestID:  firstOf(body.RequestID, response.Header.Get("X-Request-Id")),
		Fields:     body.Errors,
		RetryAfter: retryAfter(response.Header.Get("Retry-After")),
	}
	if body.Missing != nil && body.Alternatives != nil {
		e.NoCapacity = &NoCapacity{body.Missing, *body.Alternatives}
	}
	return e
}

func firstOf[T ~string](values ...T) T {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

func unexpected(prepared *attempt, response *http.Response) string {
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		location := firstOf(response.Header.Get("Location"), "no location")
		return fmt.Sprintf("%s %s is redirected (%s). Set the base URL to the final one", prepared.method, prepared.url, location)
	}
	return fmt.Sprintf("%s %s returned %s, not from Berth. Check the base URL and the proxies in front of the server", prepared.method, prepared.url, response.Status)
}

// retryAfter reads either seconds or a date.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
