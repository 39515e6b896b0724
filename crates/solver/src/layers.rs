//! The layers in order, and what a layer is. Adding one is a file and a line of the list.

use crate::answer::Why;
use crate::config::Config;
use crate::query::{Query, Tools};
use crate::smt::Backend;
use crate::{
    Answer, blast, bounds, cache, climb, current, domain, fixed, identity, intervals, invert, linear, meet, numerals,
    parity, recent, slice, smt, trivial, values, walk,
};
use term::{Assignment, SymbolId, TermId};

/// Makes [`Layer`] of a list of `Name "its name for users" => the file with its fn layer`.
macro_rules! layers {
    ($($(#[$doc:meta])* $layer:ident $name:literal => $file:ident,)*) => {
        /// A switchable layer of the stack, in the order in which they are tried.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Layer {
            $($(#[$doc])* $layer,)*
        }

        impl Layer {
            pub const ALL: [Layer; [$($name),*].len()] = [$(Layer::$layer),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Layer::$layer => $name,)*
                }
            }

            fn make(self, setup: &mut Setup) -> Option<Box<dyn Answers>> {
                match self {
                    $(Layer::$layer => $file::layer(setup),)*
                }
            }
        }
    };
}

layers! {
    /// The question is a constant.
    Trivial "trivial" => trivial,
    /// The current input answers it.
    Current "current" => current,
    /// All its symbols have one value each.
    Fixed "fixed" => fixed,
    /// One symbol with an exact set of values.
    Domains "domains" => domain,
    /// Earlier answers.
    Cache "cache" => cache,
    /// Inputs found lately for other questions.
    Recent "recent" => recent,
    /// Guesses by inverting the question.
    Proposals "proposals" => invert,
    /// What terms can be at most and at least.
    Bounds "bounds" => bounds,
    /// What equations of sums say together.
    Linear "linear" => linear,
    /// Between which floats terms lie.
    Intervals "intervals" => intervals,
    /// The question with the constraints over its own symbols alone.
    Slice "slice" => slice,
    /// All values tried where there are few.
    Values "values" => values,
    /// Numbers in digits, and what remainders say of them.
    Numerals "numerals" => numerals,
    /// Equations whose sides are tried alone.
    Meet "meet" => meet,
    /// Equations of exclusive ors.
    Parity "parity" => parity,
    /// Sums of bits that are always or never equal.
    Identity "identity" => identity,
    /// Inputs moved to where conditions on floats are nearer to holding.
    Climb "climb" => climb,
    /// Local search.
    Walk "walk" => walk,
    /// Gates and SAT.
    Blaster "blaster" => blast,
    /// The SMT solver.
    Smt "smt" => smt,
}

impl Layer {
    /// The layer of this name.
    pub fn named(name: &str) -> Option<Layer> {
        Layer::ALL.into_iter().find(|layer| layer.name() == name)
    }

    /// Those that are not left out, ready to answer.
    pub(crate) fn line_up(mut setup: Setup) -> Vec<InOrder> {
        let config = setup.config;
        let make = |layer: Layer| {
            let answers = layer.make(&mut setup)?;
            Some(InOrder { layer, cost: answers.cost(), answers })
        };
        Layer::ALL.into_iter().filter(|layer| config.is_on(*layer)).filter_map(make).collect()
    }
}

/// A layer of the stack.
pub(crate) struct InOrder {
    pub layer: Layer,
    pub cost: Cost,
    pub answers: Box<dyn Answers>,
}

/// What layers are made from.
pub(crate) struct Setup<'a> {
    pub config: &'a Config,
    /// Taken by the layer that asks it.
    pub smt: Option<Box<dyn Backend>>,
}

/// One layer.
pub(crate) trait Answers {
    /// `None` when it has nothing to say.
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said>;

    /// The answer that it put off until the searching layers had a short try.
    fn answer_late(&mut self, _query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        None
    }

    /// A layer answered, and the answer was confirmed.
    fn learn(&mut self, _query: &Query, _by: Layer, _learnt: &Learnt) {}

    fn cost(&self) -> Cost {
        Cost::Little
    }
}

/// What asking a layer costs, and so when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Not worth measuring; only for the first ones.
    Nothing,
    Little,
    /// It searches.
    Search,
    /// It searches, and comes after what others put off.
    LastResort,
}

impl Cost {
    pub fn is_search(self) -> bool {
        matches!(self, Cost::Search | Cost::LastResort)
    }
}

/// What a layer says.
pub(crate) enum Said {
    /// Exact as it is: neither checked nor remembered.
    Exactly(Answer),
    /// Values for the symbols the question is connected with. They are checked before they are passed on.
    Sat(Vec<(SymbolId, u64)>),
    /// With the constraints that contradict each other, when the layer knows them.
    Unsat(Option<Vec<TermId>>),
    Unknown(Why),
}

/// What all layers are told of an answer.
pub(crate) enum Learnt<'a> {
    Sat { values: &'a [(SymbolId, u64)], input: &'a Assignment },
    Unsat { core: Option<&'a [TermId]> },
}
