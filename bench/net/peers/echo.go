// The echo server of bench/net/echo.cpp with Go, on one processor: prints its port, and ends when that many
// connections have ended.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
)

func echo(connection net.Conn, running *sync.WaitGroup) {
	defer running.Done()
	defer connection.Close()
	buffer := make([]byte, 4096)
	for {
		count, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err = connection.Write(buffer[:count]); err != nil {
			return
		}
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: echo_go CONNECTIONS")
	}
	connections, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	runtime.GOMAXPROCS(1)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	var running sync.WaitGroup
	for i := 0; i < connections; i++ {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		running.Add(1)
		go echo(connection, &running)
	}
	running.Wait()
}
