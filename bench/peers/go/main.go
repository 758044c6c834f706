// Command player is the client-go player of listwatch's benchmark: it runs one case against a
// stage server and prints one JSON line that says what the case cost.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// watchListSwitch is client-go's environment variable for its WatchList feature.
const watchListSwitch = "KUBE_FEATURE_WatchListClient"

// errUnsupported says that client-go, or this program, has no such case.
var errUnsupported = errors.New("unsupported")

// options are what the command line says.
type options struct {
	server   string
	name     string
	resource string
	objects  int
	events   int
	pageSize int64
}

// a play is what one case does, and what a reader of its figures should know.
type play struct {
	run  func(context.Context, *stage, options, *result) error
	note string
}

var plays = map[string]play{
	"watch":             {watchTyped, "typed clientset"},
	"watch-metadata":    {watchMetadata, "metadata client"},
	"informer":          {informer(readKey), "shared informer, namespace index"},
	"informer-phase":    {informer(readPhase), "as informer: objects are decoded whole"},
	"informer-decode":   {informer(readPhase), "as informer-phase: objects are decoded whole"},
	"informer-typed":    {informer(readKey), "as informer: the store is typed"},
	"informer-metadata": {metadataInformer, "metadata informer, namespace index"},
	"list":              {list, "shared informer, namespace index, no handler"},
	"list-metadata":     {metadataList, "metadata informer, namespace index, no handler"},
}

func main() {
	opts := parse()
	// Every peer lists in pages, so WatchList is off unless the environment says otherwise:
	// client-go reads the variable when it first asks for the feature.
	if _, told := os.LookupEnv(watchListSwitch); !told {
		os.Setenv(watchListSwitch, "false")
	}
	out, err := run(context.Background(), opts)
	if errors.Is(err, errUnsupported) {
		show(map[string]string{"unsupported": err.Error()})
		os.Exit(3)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "client-go player, case %s: %v\n", opts.name, err)
		os.Exit(1)
	}
	show(out)
}

func parse() options {
	names := make([]string, 0, len(plays))
	for name := range plays {
		names = append(names, name)
	}
	slices.Sort(names)
	var opts options
	flag.StringVar(&opts.server, "server", "", "the stage's `URL`")
	flag.StringVar(&opts.name, "case", "", "what to run: "+strings.Join(names, ", "))
	flag.StringVar(&opts.resource, "resource", "pods", "pods (typed) or widgets (dynamic client)")
	flag.IntVar(&opts.objects, "objects", 0, "how many objects the stage lists")
	flag.IntVar(&opts.events, "events", 0, "how many events the stage sends")
	flag.Int64Var(&opts.pageSize, "page-size", 500, "objects in a page of a LIST; 0: one body")
	flag.Parse()
	if opts.server == "" || opts.name == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	return opts
}

func run(ctx context.Context, opts options) (*result, error) {
	chosen, known := plays[opts.name]
	if !known {
		return nil, fmt.Errorf("%w: client-go has no case %q", errUnsupported, opts.name)
	}
	stage, err := connect(opts)
	if err != nil {
		return nil, err
	}
	out := &result{Player: "client-go", Case: opts.name, Versions: versions()}
	out.Notes = fmt.Sprintf("%s; JSON, QPS -1, GOMAXPROCS=%d, GOGC=%s, WatchList=%s",
		chosen.note, runtime.GOMAXPROCS(0), variable("GOGC", "100"), variable(watchListSwitch, ""))
	out.before()
	return out, chosen.run(ctx, stage, opts, out)
}

func versions() map[string]string {
	found := map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/client-go" {
				found["client-go"] = strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return found
}

func variable(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func show(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // cannot happen: strings and numbers only
	}
	fmt.Println(string(text))
}
