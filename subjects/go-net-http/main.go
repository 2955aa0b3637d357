// dyno's subject for Go: net/http by itself, gorilla/websocket for the WebSocket, pgx for the
// database.
//
//	server -address 127.0.0.1:8080
//	server -address 127.0.0.1:8080 -h2c
//	server -address 127.0.0.1:8443 -cert chain.pem -key key.pem
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

func main() {
	address := flag.String("address", "127.0.0.1:8080", "where to listen")
	h2c := flag.Bool("h2c", false, "take HTTP/2 without TLS, too")
	cert := flag.String("cert", "", "speak TLS with this chain")
	key := flag.String("key", "", "the key that belongs to it")
	version := flag.Bool("version", false, "print the version and stop")
	flag.Parse()
	if *version {
		fmt.Println(runtime.Version()[len("go"):])
		return
	}

	items, err := readCatalogue(os.Getenv("DATASET"))
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", echo)
	mux.HandleFunc("GET /hello", hello)
	mux.HandleFunc("GET /user/{id}", user)
	mux.HandleFunc("POST /user", giveBack("text/plain"))
	mux.HandleFunc("GET /poll/{seconds}", poll)
	mux.HandleFunc("GET /wspoll/{seconds}", pollSocket)
	mux.HandleFunc("GET /wsecho", echoSocket)
	mux.HandleFunc("GET /delay/{ms}", delay)
	mux.HandleFunc("GET /header", header)
	mux.HandleFunc("GET /json/{count}", items.list)
	mux.HandleFunc("POST /sum", sum)
	mux.HandleFunc("POST /echo", giveBack("application/octet-stream"))
	if url := os.Getenv("DATABASE_URL"); url != "" {
		db, err := openDatabase(url)
		if err != nil {
			log.Fatal(err)
		}
		mux.HandleFunc("GET /db", db.one)
		mux.HandleFunc("GET /queries", db.several)
		mux.HandleFunc("GET /updates", db.update)
		mux.HandleFunc("GET /fortunes", db.fortunes)
	}
	if folder := os.Getenv("FILES"); folder != "" {
		mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServer(http.Dir(folder))))
	}
	server := &http.Server{Addr: *address, Handler: mux}
	if *cert != "" {
		// With TLS it offers HTTP/2 by itself.
		log.Fatal(server.ListenAndServeTLS(*cert, *key))
	}
	if *h2c {
		server.Protocols = new(http.Protocols)
		server.Protocols.SetHTTP1(true)
		server.Protocols.SetUnencryptedHTTP2(true)
	}
	log.Fatal(server.ListenAndServe())
}

func echo(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery == "" {
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	if query := r.URL.Query(); query.Has("value") {
		fmt.Fprintf(w, "<http_test><value>%s</value></http_test>", query.Get("value"))
	} else {
		fmt.Fprint(w, "<http_test><error>no value specified</error></http_test>")
	}
}

func hello(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, "Hello, world!")
}

func user(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, r.PathValue("id"))
}

func giveBack(contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Write(body)
	}
}

func delay(w http.ResponseWriter, r *http.Request) {
	ms, err := strconv.ParseUint(r.PathValue("ms"), 10, 16)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, ms)
}

func header(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, r.Header.Get("X-Request-Id"))
}

func sum(w http.ResponseWriter, r *http.Request) {
	var numbers struct {
		Values []int64 `json:"values"`
	}
	if err := json.NewDecoder(r.Body).Decode(&numbers); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var answer struct {
		Sum   int64 `json:"sum"`
		Count int   `json:"count"`
	}
	for _, value := range numbers.Values {
		answer.Sum += value
	}
	answer.Count = len(numbers.Values)
	writeJSON(w, answer)
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}

func poll(w http.ResponseWriter, r *http.Request) {
	every, ok := period(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	out := http.NewResponseController(w)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		fmt.Fprint(w, "tick\n")
		if out.Flush() != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		}
	}
}

var upgrader websocket.Upgrader

func pollSocket(w http.ResponseWriter, r *http.Request) {
	every, ok := period(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		readUntilClosed(conn)
	}()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if conn.WriteMessage(websocket.TextMessage, []byte("tick")) != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-gone:
			return
		}
	}
}

func echoSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		kind, message, err := conn.ReadMessage()
		if err != nil {
			return
		}
		if kind == websocket.TextMessage && !utf8.Valid(message) {
			refuseText(conn)
			return
		}
		if conn.WriteMessage(kind, message) != nil {
			return
		}
	}
}

// gorilla/websocket leaves it to the application to see that a text is UTF-8.
func refuseText(conn *websocket.Conn) {
	reason := websocket.FormatCloseMessage(websocket.CloseInvalidFramePayloadData, "")
	conn.WriteControl(websocket.CloseMessage, reason, time.Now().Add(time.Second))
}

// Pings and closes are answered only while somebody reads.
func readUntilClosed(conn *websocket.Conn) {
	for {
		if _, _, err := conn.NextReader(); err != nil {
			return
		}
	}
}

// The path's number of seconds, if it is one.
func period(r *http.Request) (time.Duration, bool) {
	seconds, err := strconv.ParseUint(r.PathValue("seconds"), 10, 16)
	return time.Duration(seconds) * time.Second, err == nil && seconds > 0
}
