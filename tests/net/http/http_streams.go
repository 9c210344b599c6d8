// http_streams: reads streams of bytes as the server of Go's net/http does. Standard input has a length of 4 bytes
// before each stream; for each, standard output gets a line as http_program writes it, with "taken" or "refused" first.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Stream is the connection of one stream: the server reads its bytes, and then the end.
type Stream struct {
	in     *bytes.Reader
	out    bytes.Buffer
	closed chan struct{}
	once   sync.Once
}

func (s *Stream) Read(to []byte) (int, error)      { return s.in.Read(to) }
func (s *Stream) Write(from []byte) (int, error)   { return s.out.Write(from) }
func (s *Stream) Close() error                     { s.once.Do(func() { close(s.closed) }); return nil }
func (s *Stream) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *Stream) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *Stream) SetDeadline(time.Time) error      { return nil }
func (s *Stream) SetReadDeadline(time.Time) error  { return nil }
func (s *Stream) SetWriteDeadline(time.Time) error { return nil }

// Listener gives the server the streams.
type Listener struct{ streams chan net.Conn }

func (l Listener) Accept() (net.Conn, error) {
	if stream, isThere := <-l.streams; isThere {
		return stream, nil
	}
	return nil, io.EOF
}
func (l Listener) Close() error   { return nil }
func (l Listener) Addr() net.Addr { return &net.TCPAddr{} }

// isRefused is true if the server has answered other than the handler: with an error that it has found itself.
func isRefused(answers []byte, requests int) bool {
	reader := bufio.NewReader(bytes.NewReader(answers))
	for {
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			return requests != 0
		}
		if answer.StatusCode == http.StatusContinue {
			continue
		}
		if answer.StatusCode != http.StatusNoContent {
			return true
		}
		requests--
	}
}

func main() {
	var requests int
	var line bytes.Buffer // one stream at a time
	var isCut bool
	handler := func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			isCut = true
			panic(http.ErrAbortHandler)
		}
		if len(body) == 0 {
			body = []byte("-")
		}
		requests++
		fmt.Fprintf(&line, " %s %s %x", request.Method, request.RequestURI, body)
		answer.WriteHeader(http.StatusNoContent)
	}
	listener := Listener{make(chan net.Conn)}
	server := http.Server{Handler: http.HandlerFunc(handler), ErrorLog: log.New(io.Discard, "", 0)}
	go server.Serve(listener)

	input, output := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer output.Flush()
	for {
		var size uint32
		if binary.Read(input, binary.BigEndian, &size) != nil {
			return
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(input, data); err != nil {
			log.Fatal(err)
		}
		stream := &Stream{in: bytes.NewReader(data), closed: make(chan struct{})}
		requests, isCut = 0, false
		line.Reset()
		listener.streams <- stream
		<-stream.closed
		end := "taken"
		if isCut || isRefused(stream.out.Bytes(), requests) {
			end = "refused"
		}
		fmt.Fprintf(output, "%s%s\n", end, line.Bytes())
	}
}
