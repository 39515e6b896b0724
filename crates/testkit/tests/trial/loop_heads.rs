//! `loop-heads`: how often each loop head is passed. No real technique: a trial of how little it takes to add one.

use std::collections::BTreeMap;
use std::sync::Arc;

use analysis::{CallGraph, Cfg, Loops};
use explore::{Event, Events, Interest, Report, Technique};
use ir::{BlockId, FuncId, Module};
use techniques::{ANY_FLAGS, Entry, Flag, Making, Part, Resume, Takes};

pub const ENTRY: Entry = Entry {
    name: "loop-heads",
    flags: &[LEAST],
    check: ANY_FLAGS,
    make: |making: &Making| {
        Ok(Part::passive(LoopHeads::new(making.subject.module.clone(), making.flags.number(&LEAST))))
    },
    resume: Resume::FromPending,
    company: &[],
};

const LEAST: Flag = Flag {
    name: "loop-heads-least",
    help: "`loop-heads`: leave out loops that are entered and repeated less often than this",
    takes: Takes::Number { named: "N", default: 1 },
};

struct LoopHeads {
    module: Arc<Module>,
    least: u64,
    n_passed: BTreeMap<(FuncId, BlockId), u64>,
}

impl LoopHeads {
    fn new(module: Arc<Module>, least: u64) -> LoopHeads {
        let graph = CallGraph::new(&module);
        let mut n_passed = BTreeMap::new();
        for func in (0..module.functions.len()).map(FuncId::new).filter(|func| !module.function(*func).is_runtime) {
            let loops = Loops::new(&Cfg::new(&module, func, &graph));
            let blocks = (0..module.function(func).blocks.len()).map(BlockId::new);
            n_passed.extend(blocks.filter(|block| loops.headed_by(*block).is_some()).map(|block| ((func, block), 0)));
        }
        LoopHeads { module, least, n_passed }
    }
}

impl Technique for LoopHeads {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }

    fn report(&mut self) -> Report {
        let counted = self.n_passed.iter().filter(|(_, n_passed)| **n_passed >= self.least);
        let rows: Vec<(String, u64)> = counted
            .map(|((func, block), n)| (format!("{}:{}", self.module.function(*func).name, block.0), *n))
            .collect();
        let json: Vec<String> =
            rows.iter().map(|(head, n)| format!("{{\"head\":\"{head}\",\"passed\":{n}}}")).collect();
        let text = rows.iter().map(|(head, n)| format!("  {head:<20}{n}\n")).collect::<String>();
        Report { text: format!("loop heads\n{text}"), ..Report::summary(format!("{{\"heads\":[{}]}}", json.join(","))) }
    }
}

impl Events for LoopHeads {
    fn interest(&self) -> Interest {
        Interest::BLOCK
    }

    fn observe(&mut self, _: &mut vm::State, event: &Event) {
        if let Event::Block { func, block, .. } = event
            && let Some(n_passed) = self.n_passed.get_mut(&(*func, *block))
        {
            *n_passed += 1;
        }
    }
}
