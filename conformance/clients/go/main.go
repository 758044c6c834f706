// Command follower runs client-go against a server, as an operator would, and tells what it sees:
// a JSON object on each line of its standard output. It ends when its standard input does.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// A line is what is told: an event of the informer's or of the election's, or the store.
type line struct {
	Type    string            `json:"type"`
	Name    string            `json:"name,omitempty"`
	Version string            `json:"version,omitempty"`
	Store   map[string]string `json:"store,omitempty"`
}

var printing sync.Mutex

func tell(told line) {
	text, err := json.Marshal(told)
	if err != nil {
		panic(err) // cannot happen: strings only
	}
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(text))
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the `file` that names the server")
	namespace := flag.String("namespace", "default", "where to look")
	resource := flag.String("resource", "configmaps.v1.", "what to follow: `plural.version.group`")
	kind := flag.String("client", "typed", "with which client: typed, dynamic or metadata")
	protobuf := flag.Bool("protobuf", false, "ask the typed client's questions in protobuf")
	identity := flag.String("elect", "", "stand for election under this `name` instead")
	flag.Parse()

	ctx, stop := context.WithCancel(context.Background())
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fail(err)
	}
	if *protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	if *identity != "" {
		err = elect(ctx, config, *namespace, *identity)
	} else {
		err = follow(ctx, config, *namespace, *resource, *kind)
	}
	if err != nil {
		fail(err)
	}
	stop()
}

// follow tells what an informer sees, and its store for each line that comes in.
func follow(ctx context.Context, config *rest.Config, namespace, resource, kind string) error {
	parsed, _ := schema.ParseResourceArg(resource)
	if parsed == nil {
		return fmt.Errorf("no resource %q", resource)
	}
	informer, err := newInformer(config, namespace, *parsed, kind)
	if err != nil {
		return err
	}
	if err := start(ctx, informer); err != nil {
		return err
	}
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		tell(line{Type: "STORE", Store: stored(informer)})
	}
	return nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "follower:", err)
	os.Exit(1)
}
