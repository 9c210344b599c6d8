// h2spec PORT [SECTION]...: runs the cases of h2spec against the server at 127.0.0.1. Its last line counts them.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/summerwind/h2spec"
	"github.com/summerwind/h2spec/config"
)

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	passed, err := h2spec.Run(&config.Config{
		Host: "127.0.0.1", Port: port, Path: "/", Timeout: 2 * time.Second, MaxHeaderLen: 4000, Sections: os.Args[2:],
	})
	if err != nil || !passed {
		os.Exit(1)
	}
}
