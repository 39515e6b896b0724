//! The parser that bison makes of a grammar. Where the rules leave a choice, bison decides, by precedence or by itself, and refuses
//! the rest: `a < b < c` with `%nonassoc`, say. So it may accept fewer texts than the rules derive.

use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// What the parser does when it sees a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Shift(u32),
    /// By the rule of that number.
    Reduce(u32),
    Accept,
    Refuse,
}

#[derive(Clone, Debug)]
pub struct State<T: Eq + Hash> {
    pub actions: FxHashMap<T, Action>,
    pub at_end: Option<Action>,
    /// For all that have no action of their own.
    pub otherwise: Action,
    /// Where it goes on after a reduction, by the variable's number.
    pub goes: FxHashMap<u32, u32>,
}

impl<T: Eq + Hash> Default for State<T> {
    fn default() -> Self {
        State { actions: FxHashMap::default(), at_end: None, otherwise: Action::Refuse, goes: FxHashMap::default() }
    }
}

/// How much a reduction takes off the stack, and what it puts there.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    pub n_symbols: usize,
    pub variable: u32,
}

#[derive(Clone, Debug)]
pub struct Parser<T: Eq + Hash> {
    pub states: Vec<State<T>>,
    pub reductions: FxHashMap<u32, Reduction>,
}

/// The states that the parser has been in and will come back to, the latest last.
#[derive(Clone, Debug)]
pub struct Stack(Rc<[u32]>);

/// Reductions without a token between them: more than that never end.
const MAX_REDUCTIONS: usize = 10_000;

impl<T: Eq + Hash + Copy> Parser<T> {
    pub fn beginning(&self) -> Stack {
        Stack(Rc::from([0]))
    }

    /// With one token more; `None` where the parser refuses it.
    pub fn advance(&self, stack: &Stack, token: T) -> Option<Stack> {
        let action = |state: &State<T>| state.actions.get(&token).copied();
        let (mut states, to) = self.reduce(stack, action)?;
        states.push(to);
        Some(Stack(states.into()))
    }

    /// Whether the text may end here.
    pub fn accepts(&self, stack: &Stack) -> bool {
        self.reduce(stack, |state| state.at_end).is_some()
    }

    /// Reduces until the parser shifts or accepts: the stack, and the state that comes on top.
    fn reduce(&self, stack: &Stack, action: impl Fn(&State<T>) -> Option<Action>) -> Option<(Vec<u32>, u32)> {
        let mut states = stack.0.to_vec();
        for _ in 0..MAX_REDUCTIONS {
            let state = &self.states[*states.last()? as usize];
            match action(state).unwrap_or(state.otherwise) {
                Action::Shift(to) => return Some((states, to)),
                Action::Accept => return Some((states, 0)),
                Action::Refuse => return None,
                Action::Reduce(rule) => {
                    let Reduction { n_symbols, variable } = self.reductions.get(&rule)?;
                    states.truncate(states.len().checked_sub(*n_symbols)?);
                    let below = &self.states[*states.last()? as usize];
                    states.push(*below.goes.get(variable)?);
                }
            }
        }
        None
    }
}

impl Parser<String> {
    /// The same parser with other names for its tokens; those without are never seen.
    pub fn rename<T: Eq + Hash>(self, name: impl Fn(&str) -> Option<T>) -> Parser<T> {
        let rename = |state: State<String>| {
            let State { actions, at_end, otherwise, goes } = state;
            let actions = actions.into_iter().filter_map(|(token, action)| Some((name(&token)?, action))).collect();
            State { actions, at_end, otherwise, goes }
        };
        Parser { states: self.states.into_iter().map(rename).collect(), reductions: self.reductions }
    }
}
