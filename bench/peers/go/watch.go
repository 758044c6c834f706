package main

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watchTyped reads a bare watch, every object decoded: by the generated clientset into
// corev1.Pod, or by the dynamic client where no Go type is known.
func watchTyped(ctx context.Context, on *stage, opts options, out *result) error {
	open := on.dynamic.Resource(on.resource).Watch
	if on.isTyped() {
		open = on.typed.CoreV1().Pods(metav1.NamespaceAll).Watch
	}
	return watchEvents(ctx, on, opts, out, open)
}

// watchMetadata reads a bare watch of metadata only.
func watchMetadata(ctx context.Context, on *stage, opts options, out *result) error {
	return watchEvents(ctx, on, opts, out, on.metadata.Resource(on.resource).Watch)
}

func watchEvents(
	ctx context.Context, on *stage, opts options, out *result,
	open func(context.Context, metav1.ListOptions) (watch.Interface, error),
) error {
	version, err := on.firstVersion(ctx)
	if err != nil {
		return err
	}
	events, err := open(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return err
	}
	defer events.Stop()

	var seen []mark
	start := read()
	if err := on.start(ctx); err != nil {
		return err
	}
	for event := range events.ResultChan() {
		object, is := event.Object.(metav1.Object)
		if !is {
			return errors.New("an event of type " + string(event.Type) + " without an object")
		}
		seen = append(seen, mark{object.GetNamespace(), object.GetName(), object.GetResourceVersion()})
		if len(seen) == opts.events {
			break
		}
	}
	out.took(start)
	if len(seen) < opts.events {
		return errors.New("the watch ended before the last event")
	}
	out.after()
	out.Events = len(seen)
	out.Checksum = checksum(seen)
	return nil
}
