package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A result is the JSON line that every player prints. CPU and wall are seconds, RSS bytes.
type result struct {
	Player    string            `json:"player"`
	Case      string            `json:"case"`
	Versions  map[string]string `json:"versions"`
	Objects   int               `json:"objects"`
	Events    int               `json:"events"`
	Checksum  string            `json:"checksum"`
	CPU       float64           `json:"cpu"`
	Wall      float64           `json:"wall"`
	RSSBefore int64             `json:"rss_before"`
	RSSKept   int64             `json:"rss_kept"`
	RSSPeak   int64             `json:"rss_peak"`
	Fast      map[string]int    `json:"fast"`
	Notes     string            `json:"notes"`
}

// before takes the memory that the program has before it asked for anything.
func (r *result) before() {
	debug.FreeOSMemory()
	r.RSSBefore = memory("VmRSS")
}

// took sets what was spent since `start`.
func (r *result) took(start reading) {
	end := read()
	r.CPU = (end.cpu - start.cpu).Seconds()
	r.Wall = end.wall.Sub(start.wall).Seconds()
}

// after releases the garbage and takes the memory that is left and the most there was.
func (r *result) after() {
	r.RSSPeak = memory("VmHWM")
	debug.FreeOSMemory() // collects first
	r.RSSKept = memory("VmRSS") - r.RSSBefore
}

// A reading is the CPU time of all threads, user and system, and the time of day.
type reading struct {
	cpu  time.Duration
	wall time.Time
}

func read() reading {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // cannot happen: the arguments are right
	}
	return reading{
		cpu:  time.Duration(used.Utime.Nano() + used.Stime.Nano()),
		wall: time.Now(),
	}
}

// memory reads one field of /proc/self/status, in bytes; -1 where there is none.
func memory(field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		value, found := strings.CutPrefix(line, field+":")
		if !found {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		if err != nil {
			return -1
		}
		return kib * 1024
	}
	return -1
}

// A mark is what is noted of one object: it has no cost beyond three string headers.
type mark struct {
	namespace, name, version string
}

// checksum is the sum of each mark's CRC-32 modulo 2^64, as decimal text.
func checksum(marks []mark) string {
	var sum uint64
	for _, each := range marks {
		key := each.name
		if each.namespace != "" {
			key = each.namespace + "/" + each.name
		}
		sum += uint64(crc32.ChecksumIEEE(fmt.Appendf(nil, "%s %s", key, each.version)))
	}
	return strconv.FormatUint(sum, 10)
}
