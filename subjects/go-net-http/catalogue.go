package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
)

// The items of the file that DATASET names.
type catalogue []item

type item struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Price    int      `json:"price"`
	Quantity int      `json:"quantity"`
	Active   bool     `json:"active"`
	Tags     []string `json:"tags"`
	Rating   rating   `json:"rating"`
}

type rating struct {
	Score int `json:"score"`
	Count int `json:"count"`
}

type pricedItem struct {
	item
	Total int `json:"total"`
}

// No file is a catalogue without items.
func readCatalogue(path string) (catalogue, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var items catalogue
	return items, json.Unmarshal(text, &items)
}

// Lists the first items, with totals.
func (c catalogue) list(w http.ResponseWriter, r *http.Request) {
	count, err := strconv.Atoi(r.PathValue("count"))
	if err != nil || count < 1 || len(c) < count {
		http.NotFound(w, r)
		return
	}
	m, err := strconv.Atoi(r.URL.Query().Get("m"))
	if err != nil {
		http.Error(w, "m is not a number", http.StatusBadRequest)
		return
	}
	items := make([]pricedItem, count)
	for i, item := range c[:count] {
		items[i] = pricedItem{item, item.Price * item.Quantity * m}
	}
	writeJSON(w, struct {
		Items []pricedItem `json:"items"`
		Count int          `json:"count"`
	}{items, count})
}
