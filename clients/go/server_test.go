package berth

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// scriptedAnswer is what the server does with one request (clients/vectors/README.md).
type scriptedAnswer struct {
	Status     int
	Headers    map[string]any
	Body       json.RawMessage
	Text       *string
	Stream     *string
	PieceBytes int
	End        string
	Broken     string
}

type receivedRequest struct {
	Method, Path string
	Query        map[string]string
	Header       http.Header
	Body         []byte
}

// scriptedServer gives one answer to each request in turn.
type scriptedServer struct {
	*httptest.Server
	mutex    sync.Mutex
	script   []scriptedAnswer
	requests []receivedRequest
	done     chan struct{}
}

func startScriptedServer(t *testing.T, script []scriptedAnswer) *scriptedServer {
	s := &scriptedServer{script: script, done: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(s)
	// The transport repeats requests on a reused connection by itself, unseen by the client.
	s.Config.SetKeepAlivesEnabled(false)
	s.Start()
	t.Cleanup(func() {
		close(s.done)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *scriptedServer) received() []receivedRequest {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.requests
}

func (s *scriptedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	path, _, _ := strings.Cut(r.RequestURI, "?")
	s.mutex.Lock()
	s.requests = append(s.requests, receivedRequest{r.Method, path, firstValues(r.URL.Query()), r.Header, body})
	answer := scriptedAnswer{Status: http.StatusInternalServerError, Body: json.RawMessage(`{"success":false,"error":"The script has ended"}`)}
	if len(s.script) > 0 {
		answer, s.script = s.script[0], s.script[1:]
	}
	s.mutex.Unlock()
	if answer.Broken != "" {
		s.breakOff(w, answer.Broken)
		return
	}
	answer.writeHeader(w)
	switch {
	case answer.Stream != nil:
		s.stream(w, r, answer)
	case answer.Text != nil:
		_, _ = io.WriteString(w, *answer.Text)
	default:
		_, _ = w.Write(answer.Body)
	}
}

func firstValues(values url.Values) map[string]string {
	first := map[string]string{}
	for name := range values {
		first[name] = values.Get(name)
	}
	return first
}

func (a scriptedAnswer) writeHeader(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.Text != nil {
		w.Header().Set("Content-Type", "text/html")
	}
	if a.Stream != nil {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for name, value := range a.Headers {
		if ahead, ok := value.(map[string]any); ok {
			value = time.Now().Add(time.Duration(ahead["secondsFromNow"].(float64)) * time.Second).UTC().Format(http.TimeFormat)
		}
		w.Header().Set(name, value.(string))
	}
	w.WriteHeader(a.Status)
}

func (s *scriptedServer) stream(w http.ResponseWriter, r *http.Request, answer scriptedAnswer) {
	text := []byte(*answer.Stream)
	size := answer.PieceBytes
	if size == 0 {
		size = max(len(text), 1)
	}
	for len(text) > 0 {
		piece := text[:min(size, len(text))]
		text = text[len(piece):]
		_, _ = w.Write(piece)
		w.(http.Flusher).Flush()
	}
	switch answer.End {
	case "cut":
		panic(http.ErrAbortHandler)
	case "open":
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	}
}

func (s *scriptedServer) breakOff(w http.ResponseWriter, how string) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	switch how {
	case "reset":
		_ = connection.(*net.TCPConn).SetLinger(0)
		return
	case "truncated", "stalled":
		_, _ = io.Copy(connection, bytes.NewBufferString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"success\":true,\"da"))
	}
	if how != "truncated" {
		<-s.done
	}
}
