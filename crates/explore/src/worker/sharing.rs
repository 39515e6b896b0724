//! Sharing: work given to other workers, and work taken from them.

use super::Worker;
use super::beginnings::NO_OUTLOOK;
use crate::Decisions;
use crate::exchange::{Exchange, Portion};
use crate::pending::{Prefix, Waiting};

/// Most paths given away at a time: each is executed again from the start, but whoever has to wait for each of them waits
/// longer than that takes.
const PORTION: u64 = 128;

impl Worker<'_, '_> {
    /// Works on what others give away until nobody has anything left.
    pub fn serve(&mut self, exchange: &Exchange) {
        while let Some(portion) = exchange.take(|round| self.note_round(round)) {
            self.note_round(portion.round);
            self.telling.reports().took(portion.id);
            // The newest is taken first where nothing else decides, and the oldest promises most.
            for decisions in portion.paths.into_iter().rev() {
                self.pending.push(Waiting::Away(Box::new(Prefix::of_decisions(decisions))), None, NO_OUTLOOK);
            }
            self.work();
            self.cut_rest();
            if self.is_over() {
                return self.abandon(exchange);
            }
        }
    }

    /// A budget is used up: what lies in the exchange is not going to be explored.
    pub fn abandon(&mut self, exchange: &Exchange) {
        let rest = exchange.close();
        self.left.n_untold += rest.len() as u64;
        self.left.unexplored.extend(rest);
    }

    /// Gives some of the oldest pending paths away when somebody waits for work.
    pub(super) fn share(&mut self) {
        let Some(exchange) = self.exchange else { return };
        while exchange.is_wanted() {
            let n_given = (self.pending.len() / 2).clamp(1, PORTION);
            let paths: Vec<Decisions> = (0..n_given).map_while(|_| self.give_away()).collect();
            if paths.is_empty() {
                return;
            }
            let portion = Portion { id: exchange.next_portion(), round: self.snapshots.round(), paths };
            self.telling.reports().gave(&portion);
            exchange.give(portion);
        }
    }

    fn give_away(&mut self) -> Option<Decisions> {
        let waiting = self.pending.take_oldest()?;
        // Others will explore it, and what they read is not known here.
        self.watching.spoil(waiting.node(), &self.line_up);
        self.leave(waiting.node());
        Some(waiting.decisions())
    }
}
