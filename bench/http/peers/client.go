// A client of bench/http with Go, on one processor: asks on so many connections for so many seconds, and prints what
// bench/http/client.cpp prints.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func processorTime() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		log.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: http_client_go URL CONNECTIONS SECONDS")
	}
	url := os.Args[1]
	connections, _ := strconv.Atoi(os.Args[2])
	seconds, _ := strconv.ParseFloat(os.Args[3], 64)
	runtime.GOMAXPROCS(1)
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, DisableCompression: true}}
	begin, used := time.Now(), processorTime()
	end := begin.Add(time.Duration(seconds * float64(time.Second)))
	times := make([][]time.Duration, connections)
	var running sync.WaitGroup
	for i := range times {
		running.Add(1)
		go func(own *[]time.Duration) {
			defer running.Done()
			for asked := time.Now(); asked.Before(end); {
				response, err := client.Get(url)
				if err != nil {
					log.Fatal(err)
				}
				if _, err = io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != 200 {
					log.Fatal("the answer is not whole: ", err)
				}
				response.Body.Close()
				now := time.Now()
				*own = append(*own, now.Sub(asked))
				asked = now
			}
		}(&times[i])
	}
	running.Wait()
	took, used := time.Since(begin).Seconds(), processorTime()-used
	var all []time.Duration
	for _, some := range times {
		all = append(all, some...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	fmt.Println(len(all), took, used, all[len(all)/2].Seconds()*1e6, all[len(all)*99/100].Seconds()*1e6)
}
