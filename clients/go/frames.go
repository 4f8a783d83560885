package berth

import (
	"bytes"
	"strings"
)

// frame is a part of a server-sent stream (https://html.spec.whatwg.org/multipage/server-sent-events.html).
type frame struct {
	// id is the last one received, in this frame or an earlier one.
	id      string
	data    string
	hasData bool
	retry   string
}

// frames takes a stream in pieces of any size, without the parts of the format that an API does not need.
type frames struct {
	rest []byte
	id   string
	next frame
}

// add returns the frames that the bytes complete.
func (f *frames) add(more []byte) []frame {
	f.rest = append(f.rest, more...)
	var complete []frame
	for {
		line, ok := f.line()
		if !ok {
			return complete
		}
		if line != "" {
			f.field(line)
			continue
		}
		f.next.id = f.id
		complete = append(complete, f.next)
		f.next = frame{}
	}
}

// line takes the next line, which ends with CR, LF or both. A CR at the very end may be half of a CR LF.
func (f *frames) line() (string, bool) {
	end := bytes.IndexAny(f.rest, "\r\n")
	if end < 0 || f.rest[end] == '\r' && end == len(f.rest)-1 {
		return "", false
	}
	line := string(f.rest[:end])
	if f.rest[end] == '\r' && f.rest[end+1] == '\n' {
		end++
	}
	f.rest = f.rest[end+1:]
	return line, true
}

func (f *frames) field(line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "data":
		if f.next.hasData {
			f.next.data += "\n"
		}
		f.next.data += value
		f.next.hasData = true
	case "id":
		if !strings.Contains(value, "\x00") {
			f.id = value
		}
	case "retry":
		f.next.retry = value
	}
}
