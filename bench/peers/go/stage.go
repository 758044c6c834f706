package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// A stage is the server that the cases run against, and client-go's clients for it.
type stage struct {
	server   string
	http     *http.Client
	resource schema.GroupVersionResource
	typed    kubernetes.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
}

var resources = map[string]schema.GroupVersionResource{
	"pods":    {Version: "v1", Resource: "pods"},
	"widgets": {Group: "bench.listwatch.dev", Version: "v1", Resource: "widgets"},
}

func connect(opts options) (*stage, error) {
	resource, known := resources[opts.resource]
	if !known {
		return nil, fmt.Errorf("%w: no resource %q", errUnsupported, opts.resource)
	}
	config := &rest.Config{
		Host: opts.server,
		QPS:  -1, // no client-side limit
		// The stage's certificate is its own; checking it would cost one handshake, not an event.
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		ContentConfig: rest.ContentConfig{
			AcceptContentTypes: "application/json",
			ContentType:        "application/json",
		},
	}
	found := &stage{
		server:   opts.server,
		resource: resource,
		http: &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		}},
	}
	var err error
	if found.typed, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if found.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	found.metadata, err = metadata.NewForConfig(config)
	return found, err
}

// isTyped says whether the generated clientset knows the resource.
func (s *stage) isTyped() bool { return s.resource.Group == "" }

// start has the stage send its events, once a watch is open: it waits for that itself.
func (s *stage) start(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server+"/bench/start", nil)
	if err != nil {
		return err
	}
	response, err := s.http.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("POST /bench/start: %s", response.Status)
	}
	return nil
}

// firstVersion is the resourceVersion of the listed set, from a LIST of one object.
func (s *stage) firstVersion(ctx context.Context) (string, error) {
	found, err := s.metadata.Resource(s.resource).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return found.ResourceVersion, nil
}
