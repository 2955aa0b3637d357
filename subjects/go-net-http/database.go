package main

import (
	"cmp"
	"context"
	_ "embed"
	"html/template"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const worlds = 10_000

type world struct {
	ID           int `json:"id"`
	RandomNumber int `json:"randomNumber"`
}

type fortune struct {
	ID      int
	Message string
}

//go:embed fortunes.html
var fortunesText string

var fortunesPage = template.Must(template.New("fortunes").Parse(fortunesText))

type database struct {
	pool *pgxpool.Pool
}

// The pool connects when a connection is wanted.
func openDatabase(url string) (database, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return database{}, err
	}
	if bound, err := strconv.ParseInt(os.Getenv("DATABASE_MAX_CONN"), 10, 32); err == nil {
		config.MaxConns = int32(bound)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	return database{pool}, err
}

func (d database) one(w http.ResponseWriter, r *http.Request) {
	row, err := d.read(r.Context(), randomNumber())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, row)
}

func (d database) several(w http.ResponseWriter, r *http.Request) {
	rows := make([]world, rowCount(r))
	for i := range rows {
		row, err := d.read(r.Context(), randomNumber())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		rows[i] = row
	}
	writeJSON(w, rows)
}

func (d database) update(w http.ResponseWriter, r *http.Request) {
	var rows []world
	var batch pgx.Batch
	for _, id := range distinctIDs(rowCount(r)) {
		row, err := d.read(r.Context(), id)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		row.RandomNumber = randomNumber()
		batch.Queue("UPDATE world SET randomnumber = $1 WHERE id = $2", row.RandomNumber, row.ID)
		rows = append(rows, row)
	}
	// A batch is one transaction.
	if err := d.pool.SendBatch(r.Context(), &batch).Close(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, rows)
}

func (d database) fortunes(w http.ResponseWriter, r *http.Request) {
	found, err := d.pool.Query(r.Context(), "SELECT id, message FROM fortune")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	rows, err := pgx.CollectRows(found, pgx.RowToStructByPos[fortune])
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	rows = append(rows, fortune{0, "Additional fortune added at request time."})
	slices.SortFunc(rows, func(a, b fortune) int { return cmp.Compare(a.Message, b.Message) })
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fortunesPage.Execute(w, rows)
}

func (d database) read(ctx context.Context, id int) (world, error) {
	var row world
	err := d.pool.QueryRow(ctx, "SELECT id, randomnumber FROM world WHERE id = $1", id).
		Scan(&row.ID, &row.RandomNumber)
	return row, err
}

// An id or a value: both are from 1 to 10,000.
func randomNumber() int {
	return 1 + rand.IntN(worlds)
}

// In order, so that transactions lock rows in the same order.
func distinctIDs(count int) []int {
	ids := map[int]bool{}
	for len(ids) < count {
		ids[randomNumber()] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// The query's number of rows, from 1 to 500; what is not a number is 0 to Atoi.
func rowCount(r *http.Request) int {
	count, _ := strconv.Atoi(r.URL.Query().Get("queries"))
	return min(max(count, 1), 500)
}
