// A server of bench/http with Go, on one processor: 64 bytes from memory, and the files of a folder.
package main

import (
	"crypto/tls"
	"log"
	"net/http"
	"os"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: http_go PORT FOLDER plain|tls|h2-tls CERTIFICATE KEY")
	}
	runtime.GOMAXPROCS(1)
	body := []byte(strings.Repeat("x", 64))
	http.HandleFunc("/memory", func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "text/plain")
		writer.Write(body)
	})
	http.Handle("/", http.FileServer(http.Dir(os.Args[2])))
	server := &http.Server{Addr: "127.0.0.1:" + os.Args[1]}
	switch os.Args[3] {
	case "plain":
		log.Fatal(server.ListenAndServe())
	case "tls": // without HTTP/2
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
		log.Fatal(server.ListenAndServeTLS(os.Args[4], os.Args[5]))
	case "h2-tls":
		log.Fatal(server.ListenAndServeTLS(os.Args[4], os.Args[5]))
	}
	log.Fatal("unknown: " + os.Args[3])
}
