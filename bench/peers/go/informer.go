package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// settling is the time in which a synced informer opens its watch.
const settling = 300 * time.Millisecond

// A listener is the one handler of a case. The objects of the first list are not noted; of each
// event it notes key and version, and what `look` reads. client-go calls it from one goroutine.
type listener struct {
	look   func(any)
	seen   []mark
	events int
	done   chan struct{}
}

func (l *listener) note(object any) {
	if last, is := object.(cache.DeletedFinalStateUnknown); is {
		object = last.Obj
	}
	found := object.(metav1.Object)
	l.seen = append(l.seen, mark{found.GetNamespace(), found.GetName(), found.GetResourceVersion()})
	l.look(object)
	if len(l.seen) == l.events {
		close(l.done)
	}
}

func (l *listener) OnAdd(object any, isInInitialList bool) {
	if !isInInitialList {
		l.note(object)
	}
}
func (l *listener) OnUpdate(_, object any) { l.note(object) }
func (l *listener) OnDelete(object any)    { l.note(object) }

// readKey reads nothing besides name and version, which every listener notes.
func readKey() func(any) { return func(any) {} }

// readPhase counts the values of status.phase.
func readPhase() func(any) {
	phases := map[string]int{}
	return func(object any) {
		switch found := object.(type) {
		case *corev1.Pod:
			phases[string(found.Status.Phase)]++
		case *unstructured.Unstructured:
			phase, _, _ := unstructured.NestedString(found.Object, "status", "phase")
			phases[phase]++
		}
	}
}

// typedInformer is the shared informer of the generated clientset's factory, or that of the
// dynamic client's where no Go type is known. It has the index on namespace.
func typedInformer(ctx context.Context, on *stage, opts options) (cache.SharedIndexInformer, func()) {
	if !on.isTyped() {
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(
			on.dynamic, 0, metav1.NamespaceAll, opts.paged)
		made := factory.ForResource(on.resource).Informer()
		return made, func() { factory.Start(ctx.Done()) }
	}
	factory := informers.NewSharedInformerFactoryWithOptions(
		on.typed, 0, informers.WithTweakListOptions(opts.paged))
	made := factory.Core().V1().Pods().Informer()
	return made, func() { factory.Start(ctx.Done()) }
}

// metadataOnlyInformer is the metadata client's shared informer, with the index on namespace.
func metadataOnlyInformer(ctx context.Context, on *stage, opts options) (cache.SharedIndexInformer, func()) {
	factory := metadatainformer.NewFilteredSharedInformerFactory(
		on.metadata, 0, metav1.NamespaceAll, opts.paged)
	made := factory.ForResource(on.resource).Informer()
	return made, func() { factory.Start(ctx.Done()) }
}

// paged sets the page size of a LIST. A watch has no limit and gets none.
func (o options) paged(query *metav1.ListOptions) {
	if query.Limit > 0 {
		query.Limit = o.pageSize
	}
}

func informer(look func() func(any)) func(context.Context, *stage, options, *result) error {
	return func(ctx context.Context, on *stage, opts options, out *result) error {
		made, run := typedInformer(ctx, on, opts)
		return follow(ctx, on, opts, out, made, run, look())
	}
}

func metadataInformer(ctx context.Context, on *stage, opts options, out *result) error {
	made, run := metadataOnlyInformer(ctx, on, opts)
	return follow(ctx, on, opts, out, made, run, readKey())
}

// follow syncs an informer on the stage's objects, then measures the stage's events up to the
// handler's return from the last one.
func follow(
	ctx context.Context, on *stage, opts options, out *result,
	made cache.SharedIndexInformer, run func(), look func(any),
) error {
	told := &listener{look: look, events: opts.events, done: make(chan struct{})}
	registration, err := made.AddEventHandler(told)
	if err != nil {
		return err
	}
	run()
	if !cache.WaitFor(ctx, "", made.HasSyncedChecker(), registration.HasSyncedChecker()) {
		return errors.New("the informer did not sync")
	}
	out.Objects = len(made.GetIndexer().ListKeys())
	time.Sleep(settling)
	runtime.GC() // the garbage of the first list is not the events'

	start := read()
	if err := on.start(ctx); err != nil {
		return err
	}
	<-told.done
	out.took(start)

	out.after()
	out.Events = len(told.seen)
	out.Checksum = checksum(told.seen)
	runtime.KeepAlive(made)
	return nil
}

func list(ctx context.Context, on *stage, opts options, out *result) error {
	made, run := typedInformer(ctx, on, opts)
	return fill(ctx, opts, out, made, run)
}

func metadataList(ctx context.Context, on *stage, opts options, out *result) error {
	made, run := metadataOnlyInformer(ctx, on, opts)
	return fill(ctx, opts, out, made, run)
}

// fill measures an informer's first list, up to where it says that it has synced.
func fill(
	ctx context.Context, opts options, out *result, made cache.SharedIndexInformer, run func(),
) error {
	start := read()
	run()
	if !cache.WaitFor(ctx, "", made.HasSyncedChecker()) {
		return errors.New("the informer did not sync")
	}
	out.took(start)

	out.after()
	objects := made.GetIndexer().List()
	if len(objects) != opts.objects {
		return fmt.Errorf("%d objects in the store, not %d", len(objects), opts.objects)
	}
	marks := make([]mark, 0, len(objects))
	for _, each := range objects {
		object := each.(metav1.Object)
		marks = append(marks, mark{object.GetNamespace(), object.GetName(), object.GetResourceVersion()})
	}
	out.Objects = len(objects)
	out.Checksum = checksum(marks)
	return nil
}
