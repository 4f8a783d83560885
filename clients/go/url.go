package berth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

func apiURL(baseURL string) (string, error) {
	parsed, err := url.Parse(baseURL)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", &ArgumentError{fmt.Sprintf("the base URL must be an http or https URL such as https://cloud.example.com, and is %q", baseURL)}
	}
	path := strings.TrimSuffix(strings.TrimRight(parsed.EscapedPath(), "/"), prefix)
	return parsed.Scheme + "://" + parsed.Host + path + prefix, nil
}

func (r request) target() (string, error) {
	path := r.rawPath
	if path == "" {
		path = r.path
		for _, id := range r.ids {
			// An empty id, "." or ".." would address another path.
			if strings.Trim(id, ".") == "" {
				return "", &ArgumentError{fmt.Sprintf("an id is needed for %s %s, and %q is none", r.method, r.path, id)}
			}
			start, end := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
			path = path[:start] + url.PathEscape(id) + path[end+1:]
		}
	}
	query, err := queryValues(r.query)
	if err != nil {
		return "", err
	}
	if r.dryRun {
		query.Set("dryRun", "true")
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}

// queryValues are the fields of a query, as JSON has them.
func queryValues(query any) (url.Values, error) {
	switch query := query.(type) {
	case nil:
		return url.Values{}, nil
	case url.Values:
		return query, nil
	}
	text, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	values := url.Values{}
	for name, value := range fields {
		values.Set(name, fmt.Sprint(value))
	}
	return values, nil
}
