// pgx with its pool, on one processor: prints what bench/postgres/millrace.cpp prints. pipelined-20 is a batch, which
// has one Sync for all of its queries.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	one     = "SELECT id, name, price FROM item WHERE id = $1"
	all     = "SELECT id, name, price FROM item"
	insert  = "INSERT INTO sale (item, amount) VALUES ($1, $2)"
	items   = 1000
	queries = 20
	warmUp  = 0.1
)

type item struct {
	id    int32
	name  string
	price int32
}

func nextId(id int) int {
	return id%items + 1
}

func check(got item, err error, id int) {
	if err != nil {
		log.Fatal(err)
	}
	if int(got.id) != id || got.name == "" || int(got.price) != 10*id {
		log.Fatal("the server has answered something else")
	}
}

func itemOf(row pgx.Row) (got item, err error) {
	err = row.Scan(&got.id, &got.name, &got.price)
	return
}

func askOnce(context context.Context, db *pgxpool.Pool, work string, id int) {
	switch work {
	case "row":
		got, err := itemOf(db.QueryRow(context, one, id))
		check(got, err, id)
	case "queries-20":
		for i := 0; i < queries; i++ {
			got, err := itemOf(db.QueryRow(context, one, id))
			check(got, err, id)
			id = nextId(id)
		}
	case "pipelined-20":
		batch := &pgx.Batch{}
		for i, each := 0, id; i < queries; i++ {
			batch.Queue(one, each)
			each = nextId(each)
		}
		results := db.SendBatch(context, batch)
		for i := 0; i < queries; i++ {
			got, err := itemOf(results.QueryRow())
			check(got, err, id)
			id = nextId(id)
		}
		if err := results.Close(); err != nil {
			log.Fatal(err)
		}
	case "rows-1000":
		rows, err := db.Query(context, all)
		if err != nil {
			log.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (item, error) { return itemOf(row) })
		if err != nil || len(found) != items {
			log.Fatal("not all rows: ", err)
		}
		for i, each := range found {
			check(each, nil, i+1)
		}
	case "stream-1000":
		rows, err := db.Query(context, all)
		if err != nil {
			log.Fatal(err)
		}
		id = 0
		for rows.Next() {
			got, err := itemOf(rows)
			id++
			check(got, err, id)
		}
		if rows.Err() != nil || id != items {
			log.Fatal("not all rows: ", rows.Err())
		}
	case "insert":
		if _, err := db.Exec(context, insert, id, 7); err != nil {
			log.Fatal(err)
		}
	default:
		log.Fatal("there is no such work")
	}
}

func processorTime() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		log.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

func measure(db *pgxpool.Pool, work string, tasks int, seconds float64, isShown bool) {
	begin, used := time.Now(), processorTime()
	end := begin.Add(time.Duration(seconds * float64(time.Second)))
	times := make([][]time.Duration, tasks)
	var running sync.WaitGroup
	for i := range times {
		running.Add(1)
		go func(own *[]time.Duration, id int) {
			defer running.Done()
			for asked := time.Now(); asked.Before(end); id = nextId(id) {
				askOnce(context.Background(), db, work, id)
				now := time.Now()
				*own = append(*own, now.Sub(asked))
				asked = now
			}
		}(&times[i], nextId(i*37))
	}
	running.Wait()
	took, used := time.Since(begin).Seconds(), processorTime()-used
	var all []time.Duration
	for _, some := range times {
		all = append(all, some...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	if isShown {
		fmt.Println(len(all), took, used, all[len(all)/2].Seconds()*1e6, all[len(all)*99/100].Seconds()*1e6)
	}
}

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: postgres_pgx WORK TASKS CONNECTIONS SECONDS URL")
	}
	tasks, _ := strconv.Atoi(os.Args[2])
	connections, _ := strconv.Atoi(os.Args[3])
	seconds, _ := strconv.ParseFloat(os.Args[4], 64)
	runtime.GOMAXPROCS(1)
	config, err := pgxpool.ParseConfig(os.Args[5])
	if err != nil {
		log.Fatal(err)
	}
	config.MinConns, config.MaxConns = int32(connections), int32(connections)
	db, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	measure(db, os.Args[1], tasks, warmUp, false)
	measure(db, os.Args[1], tasks, seconds, true)
	db.Close()
}
