//! What the machine does for somebody who watches it; where nobody does, there is nothing of it.
//!
//! Three things can be watched, each without the others: events, the trace of a path (what it touched, and stops on its
//! way), and flow (which inputs what depends on).

use std::rc::Rc;

use ir::BlockId;

use crate::run::Machine;
use crate::{Event, Flow, Footprint, Interest, Observer, State, Stops, Updates};

/// The optional part of a machine.
#[derive(Default)]
pub struct Watching<'i>(Option<Box<Watched<'i>>>);

#[derive(Default)]
struct Watched<'i> {
    interest: Interest,
    observer: Option<Box<dyn Observer>>,
    trace: Option<Box<Trace>>,
    flow: Option<Box<Flow<'i>>>,
}

/// What is kept of a path whose points are looked at.
#[derive(Default)]
pub struct Trace {
    pub footprint: Footprint,
    pub stops: Stops,
    /// What the footprint leaves out.
    pub updates: Rc<Updates>,
    /// Whether the running instruction is half of an update in place.
    pub(crate) in_update: bool,
}

impl Trace {
    pub fn new(updates: Rc<Updates>) -> Trace {
        Trace { updates, ..Trace::default() }
    }
}

impl<'i> Watching<'i> {
    pub(crate) fn traced(trace: Trace) -> Watching<'i> {
        Watching(Some(Box::new(Watched { trace: Some(Box::new(trace)), ..Watched::default() })))
    }

    pub fn listen(&mut self, interest: Interest, observer: Box<dyn Observer>) {
        let watched = self.0.get_or_insert_default();
        (watched.interest, watched.observer) = (interest, Some(observer));
    }

    pub fn track(&mut self, flow: Flow<'i>) {
        self.0.get_or_insert_default().flow = Some(Box::new(flow));
    }

    /// From now on this trace is kept, or none; the result is the one kept until now.
    pub fn swap_trace(&mut self, trace: Option<Box<Trace>>) -> Option<Box<Trace>> {
        std::mem::replace(&mut self.0.get_or_insert_default().trace, trace)
    }

    #[inline(always)]
    pub fn interest(&self) -> Interest {
        self.0.as_ref().map_or(Interest::NONE, |watched| watched.interest)
    }

    #[inline(always)]
    pub fn flow(&self) -> Option<&Flow<'i>> {
        self.0.as_ref()?.flow.as_deref()
    }

    #[inline(always)]
    pub fn flow_mut(&mut self) -> Option<&mut Flow<'i>> {
        self.0.as_mut()?.flow.as_deref_mut()
    }

    #[inline(always)]
    pub fn trace(&self) -> Option<&Trace> {
        self.0.as_ref()?.trace.as_deref()
    }

    #[inline(always)]
    pub fn trace_mut(&mut self) -> Option<&mut Trace> {
        self.0.as_mut()?.trace.as_deref_mut()
    }

    /// Hands over the stops of a path, or takes them back; without a trace it keeps them.
    pub fn swap_stops(&mut self, stops: &mut Stops) {
        if let Some(trace) = self.trace_mut() {
            std::mem::swap(&mut trace.stops, stops);
        }
    }

    /// Whether the path is to stop at the block it enters.
    #[inline(always)]
    pub(crate) fn stops_entering(&mut self, depth: u32, block: BlockId) -> bool {
        self.trace_mut().is_some_and(|trace| trace.stops.enters(depth, block))
    }

    /// Whether it is to stop behind the call it returns from.
    #[inline(always)]
    pub(crate) fn stops_leaving(&mut self, depth: u32) -> bool {
        self.trace_mut().is_some_and(|trace| trace.stops.leaves(depth))
    }

    /// Where the running instruction's accesses are entered, unless it only changes a value in place.
    pub(crate) fn footprint(&mut self) -> Option<&mut Footprint> {
        self.trace_mut().filter(|trace| !trace.in_update).map(|trace| &mut trace.footprint)
    }
}

impl Machine<'_> {
    #[inline(always)]
    pub(crate) fn tell(&mut self, state: &mut State, kind: Interest, event: impl FnOnce() -> Event) {
        if let Some(watched) = &mut self.watching.0
            && watched.interest.has(kind)
            && let Some(observer) = &mut watched.observer
        {
            observer.event(state, &event());
        }
    }
}
