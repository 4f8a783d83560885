package berth

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
)

const maxPageSize = "100"

// Page is one page of a list.
type Page[T any] struct {
	Items      []T        `json:"items"`
	Pagination Pagination `json:"pagination"`
	// NextCursor reads on after the last item; nil where there is none.
	NextCursor *string `json:"nextCursor"`

	knowsCursors bool
}

// Collect returns all items of an iterator, and the first error.
func Collect[T any](items iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for item, err := range items {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

func getPage[T any](ctx context.Context, a *api, r request, options []CallOption) (*Page[T], error) {
	var page Page[T]
	answer, err := a.do(ctx, r, &page.Items, options)
	if err != nil {
		return nil, err
	}
	page.Pagination, page.knowsCursors = answer.Pagination, answer.NextCursor != nil
	if page.knowsCursors {
		err = json.Unmarshal(answer.NextCursor, &page.NextCursor)
	}
	return &page, err
}

// allPages fetches pages on demand and by cursor, so that an item that is there all the time is yielded once, whatever is added or deleted meanwhile.
func allPages[T any](ctx context.Context, a *api, r request, options []CallOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		query, err := queryValues(r.query)
		if err != nil {
			yield(nil, err)
			return
		}
		if !query.Has("limit") {
			query.Set("limit", maxPageSize)
		}
		r.query = query
		for {
			page, err := getPage[T](ctx, a, r, options)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				if !yield(&page.Items[i], nil) {
					return
				}
			}
			if !page.turn(query) {
				return
			}
		}
	}
}

// turn changes the query to that of the next page, if there is one.
func (p *Page[T]) turn(query url.Values) bool {
	query.Del("page")
	query.Del("cursor")
	switch {
	case p.NextCursor != nil:
		query.Set("cursor", *p.NextCursor)
	case !p.knowsCursors && p.Pagination.Page < p.Pagination.TotalPages:
		query.Set("page", strconv.Itoa(p.Pagination.Page+1))
	default:
		return false
	}
	return true
}
