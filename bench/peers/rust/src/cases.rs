//! The cases: bare watches, the watcher, and the reflector with its store.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::pin::pin;

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, PartialObjectMeta, WatchEvent, WatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher::{self, Event, watcher};
use kube::runtime::{WatchStreamExt, reflector};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::measure::{Mark, Reading, checksum, memory, release};
use crate::options::Options;
use crate::stage::{Stage, settle};

#[derive(Clone, Copy)]
enum Case {
    /// `Api::watch`.
    Watch,
    /// `runtime::watcher` alone.
    Watcher,
    /// `runtime::watcher` with a reflector behind it.
    Informer,
    /// The same; each object's phase is read too.
    Phase,
    /// The reflector's first list.
    List,
}

impl Case {
    /// The case of that name, whether it is of metadata only, and what to know about it.
    fn named(name: &str) -> Option<(Case, bool, &'static str)> {
        let found = match name {
            "watch" => (Case::Watch, false, "Api::watch"),
            "watch-metadata" => (Case::Watch, true, "Api::watch of PartialObjectMeta"),
            "watcher" => (Case::Watcher, false, "watcher, no store"),
            "informer" => (Case::Informer, false, "reflector, no indexes"),
            "informer-phase" => (Case::Phase, false, "as informer: objects are decoded whole"),
            "informer-decode" => (
                Case::Phase,
                false,
                "as informer-phase: objects are decoded whole",
            ),
            "informer-typed" => (Case::Informer, false, "as informer: the store is typed"),
            "informer-metadata" => (Case::Informer, true, "reflector of PartialObjectMeta"),
            "list" => (Case::List, false, "reflector"),
            "list-metadata" => (Case::List, true, "reflector of PartialObjectMeta"),
            _ => return None,
        };
        Some(found)
    }
}

/// What a kind must be for the watcher and the store.
trait Kind: Resource<DynamicType: Clone + Eq + Hash> + Clone + DeserializeOwned + Debug + Send {}
impl<K> Kind for K where
    K: Resource<DynamicType: Clone + Eq + Hash> + Clone + DeserializeOwned + Debug + Send
{
}

/// What a case has found out.
struct Outcome {
    objects: usize,
    events: usize,
    start: Reading,
    end: Reading,
    peak: i64,
    left: i64,
    checksum: u64,
}

impl Outcome {
    /// What is left once the garbage is gone. `end` was taken before.
    fn settled(start: Reading, end: Reading) -> Self {
        let peak = memory("VmHWM");
        release();
        Outcome {
            objects: 0,
            events: 0,
            start,
            end,
            peak,
            left: memory("VmRSS"),
            checksum: 0,
        }
    }
}

/// Runs the case of the options; gives the line to print.
pub async fn run(options: &Options) -> Result<String, Failure> {
    let (case, metadata, note) = Case::named(&options.case)
        .ok_or_else(|| Failure::Unsupported(format!("kube-rs has no case {:?}", options.case)))?;
    let stage = Stage::connect(options)?;
    let client = stage.client.clone();
    release();
    let before = memory("VmRSS");
    let found = match options.resource.as_str() {
        "pods" if metadata => {
            let api = Api::<PartialObjectMeta<Pod>>::all(client);
            play(case, &stage, options, api, (), |_| None).await?
        }
        "pods" => {
            let api = Api::<Pod>::all(client);
            play(case, &stage, options, api, (), pod_phase).await?
        }
        "widgets" => {
            let kind = GroupVersionKind::gvk("bench.listwatch.dev", "v1", "Widget");
            let kind = ApiResource::from_gvk_with_plural(&kind, "widgets");
            if metadata {
                let api = Api::<PartialObjectMeta<DynamicObject>>::all_with(client, &kind);
                play(case, &stage, options, api, kind, |_| None).await?
            } else {
                let api = Api::<DynamicObject>::all_with(client, &kind);
                play(case, &stage, options, api, kind, dynamic_phase).await?
            }
        }
        other => return Err(Failure::Unsupported(format!("no resource {other:?}"))),
    };
    let (cpu, wall) = found.start.until(&found.end);
    let line = serde_json::json!({
        "player": "kube-rs",
        "case": options.case,
        "versions": versions(),
        "objects": found.objects,
        "events": found.events,
        "checksum": found.checksum.to_string(),
        "cpu": cpu,
        "wall": wall,
        "rss_before": before,
        "rss_kept": found.left - before,
        "rss_peak": found.peak,
        "fast": null,
        "notes": format!("{note}; tokio of one thread, glibc malloc"),
    });
    Ok(line.to_string())
}

fn pod_phase(pod: &Pod) -> Option<&str> {
    pod.status.as_ref()?.phase.as_deref()
}

fn dynamic_phase(object: &DynamicObject) -> Option<&str> {
    object.data.get("status")?.get("phase")?.as_str()
}

async fn play<K: Kind + Sync + 'static>(
    case: Case,
    stage: &Stage,
    options: &Options,
    api: Api<K>,
    kind: K::DynamicType,
    phase: fn(&K) -> Option<&str>,
) -> Result<Outcome, Failure> {
    if let Case::Watch = case {
        return watch(stage, options, api).await;
    }
    let config = watcher::Config {
        page_size: (options.page_size > 0).then_some(options.page_size),
        ..watcher::Config::default()
    };
    let events = watcher(api, config).default_backoff();
    if let Case::Watcher = case {
        return follow(stage, options, events, || 0, |_| ()).await;
    }
    let writer = Writer::<K>::new(kind);
    let store = writer.as_reader();
    let events = events.reflect(writer);
    match case {
        Case::List => fill(options, events, store).await,
        Case::Phase => {
            let mut phases = HashMap::<String, u64>::new();
            let look = |object: &K| {
                let found = phase(object).unwrap_or_default();
                match phases.get_mut(found) {
                    Some(count) => *count += 1,
                    None => drop(phases.insert(found.to_owned(), 1)),
                }
            };
            follow(stage, options, events, || store.len(), look).await
        }
        _ => follow(stage, options, events, || store.len(), |_| ()).await,
    }
}

/// Reads a bare watch, every object decoded.
async fn watch<K: Kind + 'static>(
    stage: &Stage,
    options: &Options,
    api: Api<K>,
) -> Result<Outcome, Failure> {
    let first = api.list(&ListParams::default().limit(1)).await?;
    let version = first.metadata.resource_version.unwrap_or_default();
    let params = WatchParams::default().disable_bookmarks();
    let mut events = pin!(api.watch(&params, &version).await?);

    let mut marks = Vec::new();
    let start = Reading::take();
    stage.start();
    while marks.len() < options.events {
        match events.next().await {
            Some(Ok(
                WatchEvent::Added(mut object)
                | WatchEvent::Modified(mut object)
                | WatchEvent::Deleted(mut object),
            )) => marks.push(Mark::taken(object.meta_mut())),
            Some(Ok(WatchEvent::Bookmark(_))) => {}
            Some(Ok(WatchEvent::Error(status))) => Err(status.message)?,
            Some(Err(error)) => Err(refused(error))?,
            None => Err("the watch ended before the last event")?,
        }
    }
    let end = Reading::take();
    let mut outcome = Outcome::settled(start, end);
    outcome.events = marks.len();
    outcome.checksum = checksum(&marks);
    Ok(outcome)
}

/// Has a stream sync on the stage's objects, then measures the stage's events up to the return of
/// the handler from the last one: it notes key and version, and what `look` reads.
async fn follow<K: Kind>(
    stage: &Stage,
    options: &Options,
    events: impl Stream<Item = watcher::Result<Event<K>>>,
    stored: impl Fn() -> usize,
    mut look: impl FnMut(&K),
) -> Result<Outcome, Failure> {
    let mut events = pin!(events);
    while !matches!(next(&mut events).await?, Event::InitDone) {}
    let objects = stored();
    settle(&mut events).await?;

    let mut marks = Vec::new();
    let start = Reading::take();
    stage.start();
    while marks.len() < options.events {
        match next(&mut events).await? {
            Event::Apply(mut object) | Event::Delete(mut object) => {
                look(&object);
                marks.push(Mark::taken(object.meta_mut()));
            }
            Event::Init | Event::InitApply(_) | Event::InitDone => Err("the stream began anew")?,
        }
    }
    let end = Reading::take();
    let mut outcome = Outcome::settled(start, end);
    outcome.objects = objects;
    outcome.events = marks.len();
    outcome.checksum = checksum(&marks);
    Ok(outcome)
}

/// Measures a reflector's first list, up to where its store is ready.
async fn fill<K: Kind>(
    options: &Options,
    events: impl Stream<Item = watcher::Result<Event<K>>>,
    store: reflector::Store<K>,
) -> Result<Outcome, Failure> {
    let start = Reading::take();
    let mut events = pin!(events);
    while !matches!(next(&mut events).await?, Event::InitDone) {}
    let end = Reading::take();
    let mut outcome = Outcome::settled(start, end);

    let objects = store.state();
    if objects.len() != options.objects {
        Err(format!(
            "{} objects in the store, not {}",
            objects.len(),
            options.objects
        ))?;
    }
    let marks: Vec<Mark> = objects
        .iter()
        .map(|object| Mark::copied(object.meta()))
        .collect();
    outcome.objects = objects.len();
    outcome.checksum = checksum(&marks);
    Ok(outcome)
}

async fn next<K>(
    events: &mut (impl Stream<Item = watcher::Result<Event<K>>> + Unpin),
) -> Result<Event<K>, Failure> {
    match events.next().await {
        Some(Ok(event)) => Ok(event),
        Some(Err(watcher::Error::WatchFailed(error))) => Err(refused(error)),
        Some(Err(error)) => Err(error.into()),
        None => Err(Failure::Broken("the stream ended".into())),
    }
}

/// Of a failed watch: whether this client cannot read the server's JSON, which is no failure of the
/// player. (kube-rs takes each line for a whole event.)
fn refused(error: kube::Error) -> Failure {
    match error {
        kube::Error::SerdeError(why) => {
            Failure::Unsupported(format!("kube-rs cannot read this server's watch: {why}"))
        }
        other => other.into(),
    }
}

/// What this was built with: Cargo.lock, and what build.sh says of the compiler.
fn versions() -> HashMap<&'static str, &'static str> {
    let mut found = HashMap::new();
    if let Some(rustc) = option_env!("PLAYER_RUSTC") {
        found.insert("rustc", rustc);
    }
    let lines: Vec<&str> = include_str!("../Cargo.lock").lines().collect();
    for pair in lines.windows(2) {
        let (Some(name), Some(version)) = (
            pair[0].strip_prefix("name = "),
            pair[1].strip_prefix("version = "),
        ) else {
            continue;
        };
        let (name, version) = (name.trim_matches('"'), version.trim_matches('"'));
        if ["kube", "k8s-openapi", "tokio", "serde_json"].contains(&name) {
            found.insert(name, version);
        }
    }
    found
}
