package main

import (
	"context"
	"io"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// elect stands for election until the standard input ends, and then gives the office back.
func elect(ctx context.Context, config *rest.Config, namespace, identity string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	candidate, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "leader"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { tell(line{Type: "STARTED", Name: identity}) },
			OnStoppedLeading: func() { tell(line{Type: "STOPPED", Name: identity}) },
			OnNewLeader:      func(leader string) { tell(line{Type: "LEADER", Name: leader}) },
		},
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		io.Copy(io.Discard, os.Stdin)
	}()
	candidate.Run(ctx)
	return nil
}
