// Puts pqueue through a load, which ../load.js describes, and checks and counts as that does.
//
//	pqueue <load as JSON> <folder>   prints { pushNs, popNs } or { turnNs }: nanoseconds per payload
//	pqueue --version                 prints the version of pqueue
//
// It fails if a payload is missing, wrong or left over.
package main

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/linxGnu/pqueue"
	"github.com/linxGnu/pqueue/entry"
)

// As in pqueue's own benchmark.
const entriesPerSegment = 2000

// The lengths of the ring of payloads, as in ../load.js.
const (
	ringLength    = 997
	bigRingLength = 13
	bigBytes      = 16384
)

type load struct {
	Shape       string `json:"shape"`
	Size        int    `json:"size"`
	Count       int    `json:"count"`
	Batch       int    `json:"batch"`
	Repetitions int    `json:"repetitions"`
}

type payloads struct {
	size int
	ring []entry.Entry
}

func main() {
	if os.Args[1] == "--version" {
		fmt.Println(version())
		return
	}
	l := load{Repetitions: 1}
	must(json.Unmarshal([]byte(os.Args[1]), &l))
	p := newPayloads(l.Size)
	sums := map[string]float64{}
	for i := 0; i <= l.Repetitions; i++ {
		count := l.Count
		if i == 0 {
			// warms up, and is not measured
			count = (l.Count/10 + l.Batch - 1) / l.Batch * l.Batch
		}
		folder := filepath.Join(os.Args[2], fmt.Sprint(i))
		must(os.MkdirAll(folder, 0o777))
		q, err := pqueue.New(folder, entriesPerSegment)
		must(err)
		times := map[string]func(pqueue.Queue, *payloads, int, int) map[string]time.Duration{
			"all": all, "turns": turns, "parallel": parallel,
		}[l.Shape](q, p, count, l.Batch)
		var e entry.Entry
		if q.Dequeue(&e) {
			panic("the queue holds more payloads than were pushed")
		}
		_ = q.Close() // reports files that it has closed before
		if i > 0 {
			for key, d := range times {
				sums[key] += float64(d.Nanoseconds()) / float64(l.Count*l.Repetitions)
			}
		}
	}
	text, err := json.Marshal(sums)
	must(err)
	fmt.Println(string(text))
}

func all(q pqueue.Queue, p *payloads, count, batch int) map[string]time.Duration {
	begun := time.Now()
	p.pushAll(q, count, batch)
	pushed := time.Now()
	var e entry.Entry
	for i := 0; i < count; i++ {
		p.take(q, &e, i)
	}
	return map[string]time.Duration{"pushNs": pushed.Sub(begun), "popNs": time.Since(pushed)}
}

func turns(q pqueue.Queue, p *payloads, count, batch int) map[string]time.Duration {
	begun := time.Now()
	b := entry.NewBatch(batch)
	var e entry.Entry
	for i := 0; i < count; i += batch {
		p.push(q, &b, i, batch)
		for j := i; j < i+batch; j++ {
			p.take(q, &e, j)
		}
	}
	return map[string]time.Duration{"turnNs": time.Since(begun)}
}

func parallel(q pqueue.Queue, p *payloads, count, batch int) map[string]time.Duration {
	begun := time.Now()
	read := make(chan struct{})
	go func() {
		var e entry.Entry
		for i := 0; i < count; runtime.Gosched() {
			if q.Dequeue(&e) {
				p.check(e, i)
				i++
			}
		}
		close(read)
	}()
	p.pushAll(q, count, batch)
	<-read
	return map[string]time.Duration{"turnNs": time.Since(begun)}
}

func newPayloads(size int) *payloads {
	length := ringLength
	if size >= bigBytes {
		length = bigRingLength
	}
	p := &payloads{size: size, ring: make([]entry.Entry, length)}
	for i := range p.ring {
		e := make(entry.Entry, size)
		_, err := rand.Read(e)
		must(err)
		binary.LittleEndian.PutUint16(e, uint16(i))
		e[size-1] = byte(i)
		p.ring[i] = e
	}
	return p
}

func (p *payloads) pushAll(q pqueue.Queue, count, batch int) {
	b := entry.NewBatch(batch)
	for i := 0; i < count; i += batch {
		p.push(q, &b, i, batch)
	}
}

func (p *payloads) push(q pqueue.Queue, b *entry.Batch, from, batch int) {
	if batch == 1 {
		must(q.Enqueue(p.ring[from%len(p.ring)]))
		return
	}
	for i := from; i < from+batch; i++ {
		b.Append(p.ring[i%len(p.ring)])
	}
	must(q.EnqueueBatch(*b))
	b.Reset()
}

func (p *payloads) take(q pqueue.Queue, e *entry.Entry, number int) {
	if !q.Dequeue(e) {
		panic(fmt.Sprintf("miscounted: no payload %d", number))
	}
	p.check(*e, number)
}

func (p *payloads) check(e entry.Entry, number int) {
	number %= len(p.ring)
	if len(e) != p.size || int(binary.LittleEndian.Uint16(e)) != number || e[p.size-1] != byte(number) {
		panic(fmt.Sprintf("payload %d is not what was pushed", number))
	}
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == "github.com/linxGnu/pqueue" {
			return dep.Version
		}
	}
	return "unknown"
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
