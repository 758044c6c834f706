package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// newInformer makes the shared informer of one of client-go's three factories.
func newInformer(
	config *rest.Config, namespace string, resource schema.GroupVersionResource, kind string,
) (cache.SharedIndexInformer, error) {
	switch kind {
	case "typed":
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		factory := informers.NewSharedInformerFactoryWithOptions(
			client, 0, informers.WithNamespace(namespace))
		made, err := factory.ForResource(resource)
		if err != nil {
			return nil, err
		}
		return made.Informer(), nil
	case "dynamic":
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
		return factory.ForResource(resource).Informer(), nil
	case "metadata":
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
		return factory.ForResource(resource).Informer(), nil
	}
	return nil, fmt.Errorf("no client %q", kind)
}

// start runs an informer that tells what its handler is called with.
func start(ctx context.Context, informer cache.SharedIndexInformer) error {
	registered, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tellOf("ADDED", object) },
		UpdateFunc: func(_, object any) { tellOf("MODIFIED", object) },
		DeleteFunc: func(object any) { tellOf("DELETED", object) },
	})
	if err != nil {
		return err
	}
	go informer.RunWithContext(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, registered.HasSynced) {
			tell(line{Type: "SYNCED"})
		}
	}()
	return nil
}

// tellOf tells of an object. One that is found to be gone, by a list that lacks it, is MISSED.
func tellOf(kind string, object any) {
	if last, is := object.(cache.DeletedFinalStateUnknown); is {
		kind, object = "MISSED", last.Obj
	}
	found := object.(metav1.Object)
	tell(line{Type: kind, Name: found.GetName(), Version: found.GetResourceVersion()})
}

// stored is the store's names, and the versions of what it has under them.
func stored(informer cache.SharedIndexInformer) map[string]string {
	versions := map[string]string{}
	for _, each := range informer.GetIndexer().List() {
		object := each.(metav1.Object)
		versions[object.GetName()] = object.GetResourceVersion()
	}
	return versions
}
