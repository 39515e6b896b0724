//! Regions: what control depends on, from a decision to where its sides meet.

use std::rc::Rc;

use ir::BlockId;

use super::{Blind, Scouting};
use crate::run::Machine;
use crate::{Decides, Frame, Label, Shadow, State};

/// The keys of all open regions, of the callers too.
pub(super) type Keys = Option<Rc<KeyNode>>;

pub struct KeyNode {
    pub(super) key: u64,
    pub(super) next: Keys,
}

impl Drop for KeyNode {
    /// A deep recursion leaves a region open in each call. They must not be dropped recursively.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut node) = next.and_then(Rc::into_inner) {
            next = node.next.take();
        }
    }
}

/// An open region of a frame.
#[derive(Clone)]
pub(super) struct Region {
    pub(super) block: BlockId,
    pub(super) meets: Option<BlockId>,
    pub(super) key: u64,
    pub(super) label: Label,
    /// What to go back to when it closes.
    pub(super) control: Label,
    pub(super) keys: Keys,
}

impl Region {
    pub(super) fn is_same(&self, other: &Region) -> bool {
        let Region { block, meets, key, label, control, keys } = self;
        (*block, *meets, *key, *label, *control) == (other.block, other.meets, other.key, other.label, other.control)
            && same_keys(keys, &other.keys)
    }
}

pub(super) fn same_keys(one: &Keys, other: &Keys) -> bool {
    let (mut one, mut other) = (one, other);
    loop {
        match (one, other) {
            (None, None) => return true,
            (Some(a), Some(b)) if Rc::ptr_eq(a, b) => return true,
            (Some(a), Some(b)) if a.key == b.key => (one, other) = (&a.next, &b.next),
            _ => return false,
        }
    }
}

impl Machine<'_> {
    /// The terminator of the current block decided on a labelled value and takes `edge`.
    pub(crate) fn open_region(&mut self, state: &mut State, label: Label, edge: u32, decides: Decides) {
        if label.is_empty() || !self.is_tracking() {
            return;
        }
        let whole = self.depend(state, label, decides);
        let Some(flow) = self.watching.flow_mut() else { return };
        let top = &mut state.top;
        let facts = flow.functions[top.func.idx()].get_or_init(|| (flow.source)(top.func));
        let block = &facts.blocks[top.block.idx()];
        let Some(track) = &mut top.track else { return };
        let n_turns = if facts.is_blurred { 0 } else { block.common_depth as usize };
        let key = track.index(n_turns, (top.func, top.block, u32::MAX));
        let mut carried = if flow.blind == Blind::ToControl { Label::EMPTY } else { label };
        if let Some(leaving) = block.leaving_edge {
            if edge == leaving && state.left_guard.is_none() {
                state.left_guard = Some(Box::new((key, whole)));
            }
            if flow.scouting == Scouting::On {
                // Passed once and failed once under one name is no guard.
                let taken = flow.guards.entry(key).or_insert(edge);
                if *taken != edge {
                    *taken = leaving;
                }
            } else if let Some(taken) = flow.guards.get(&key)
                && *taken != leaving
            {
                if edge == *taken {
                    // The guard holds, as in the base run: what follows is explored under it, not together with it.
                    carried = Label::EMPTY;
                    track.passed = self.labels.union(track.passed, whole);
                } else {
                    flow.failed.push(whole);
                }
            }
        }
        // Turns of a loop that is left at the meeting are one region.
        let meets = block.meets;
        let same = track
            .regions
            .iter_mut()
            .rev()
            .take_while(|region| region.meets == meets)
            .find(|region| region.block == top.block);
        if let Some(region) = same {
            region.label = self.labels.union(region.label, label);
        } else {
            let region = Region { block: top.block, meets, key, label, control: top.control, keys: track.keys.clone() };
            track.regions.push(region);
            track.keys = Some(Rc::new(KeyNode { key, next: track.keys.take() }));
        }
        top.control = self.labels.union(top.control, carried);
        self.tlb.set_frozen(true);
    }

    /// Control comes from `from` to the current block of the top frame.
    pub(crate) fn arrive(&mut self, state: &mut State, from: BlockId) {
        let Some(flow) = self.watching.flow() else { return };
        let (func, here) = (state.top.func, state.top.block);
        let facts = flow.function(func);
        let block = &facts.blocks[here.idx()];
        if !block.is_eventful {
            return;
        }
        let is_blurred = facts.is_blurred;
        let (depth, headed) = (block.depth as usize, block.headed.clone());
        while let Some(track) = &mut state.top.track
            && track.regions.last().is_some_and(|region| region.meets == Some(here))
        {
            let Some(region) = track.regions.pop() else { break };
            track.keys = region.keys.clone();
            state.top.control = region.control;
            self.close_region(state, &region);
        }
        self.sync_control(state);
        let Some(track) = &mut state.top.track else { return };
        if is_blurred {
            return;
        }
        match headed {
            None => track.turns.truncate(depth),
            Some(body) if body.binary_search(&from).is_ok() && track.turns.len() >= depth => {
                track.turns.truncate(depth);
                track.turns[depth - 1] += 1;
            }
            Some(_) => {
                track.turns.truncate(depth - 1);
                track.turns.push(0);
            }
        }
    }

    /// The sides of a decision have met: what any of them may have written depends on it from now on.
    fn close_region(&mut self, state: &mut State, region: &Region) {
        if let (Some(flow), Some(_)) = (self.watching.flow(), region.meets) {
            let facts = flow.function(state.top.func);
            let reassigned = facts.blocks[region.block.idx()].reassigned.clone();
            for reg in reassigned.iter() {
                let slot = &mut state.top.regs[reg.idx()];
                let label = self.labels.union(slot.shadow.label(), region.label);
                slot.shadow = Shadow::new(slot.shadow.term(), label);
            }
        }
        self.spread(state, region.key, region.label);
    }

    /// Before the top frame is left by a return: closes its regions. The result is what its return values depend on.
    pub(crate) fn close_frame(&mut self, state: &mut State) -> Label {
        let Some(flow) = self.watching.flow() else { return Label::EMPTY };
        let is_lasting = flow.function(state.top.func).may_jump;
        let Some(track) = &mut state.top.track else { return Label::EMPTY };
        if track.regions.is_empty() {
            return Label::EMPTY;
        }
        let regions = std::mem::take(&mut track.regions);
        track.keys = regions[0].keys.clone();
        let mut whole = Label::EMPTY;
        for region in regions.iter().rev() {
            whole = self.labels.union(whole, region.label);
            self.spread(state, region.key, region.label);
        }
        if is_lasting {
            self.last(state, whole, &regions);
        }
        whole
    }

    /// What decided whether a `longjmp` happened stays in force in the caller.
    fn last(&mut self, state: &mut State, label: Label, regions: &[Region]) {
        let Some(caller) = &state.callers else { return };
        let mut caller_frame: Frame = caller.frame.clone();
        let Some(track) = &mut caller_frame.track else { return };
        for region in regions {
            if track.regions.iter().any(|open| open.key == region.key) {
                continue;
            }
            // Below the frame's own regions, so that these still close where they should.
            track.regions.insert(
                0,
                Region { meets: None, block: BlockId(0), control: Label::EMPTY, keys: None, ..region.clone() },
            );
            track.keys = Some(Rc::new(KeyNode { key: region.key, next: track.keys.take() }));
        }
        for region in &mut track.regions {
            region.control = self.labels.union(region.control, label);
            if region.keys.is_none() {
                region.keys = track.keys.clone();
            }
        }
        caller_frame.control = self.labels.union(caller_frame.control, label);
        let next = caller.next.clone();
        state.callers = Some(Rc::new(crate::state::Caller { frame: caller_frame, next }));
    }

    /// A `longjmp` came to the top frame under `label`: what follows depends on it for good.
    pub(crate) fn land(&mut self, state: &mut State, label: Label) {
        if !self.is_tracking() || label.is_empty() {
            return;
        }
        let key = self.index_here(state);
        let top = &mut state.top;
        let Some(track) = &mut top.track else { return };
        track.regions.clear();
        track.turns.clear();
        top.control = self.labels.union(top.control, label);
        let region = Region {
            block: BlockId(0),
            meets: None,
            key,
            label: top.control,
            control: top.control,
            keys: track.keys.clone(),
        };
        track.regions.push(region);
        track.keys = Some(Rc::new(KeyNode { key, next: track.keys.take() }));
        self.sync_control(state);
    }
}
