//! A lane's exchanges: each has a place, and a name that no other exchange of the lane ever has.

use std::ops::{Index, IndexMut};

use wire::ExchangeId;

use super::slot::Exchange;

/// The end of a queue, and of the list of free places.
const NONE: u32 = u32::MAX;

/// All exchanges that have begun and have not ended.
#[derive(Debug)]
pub(super) struct Slab {
    entries: Vec<Entry>,
    free: u32,
    live: usize,
}

#[derive(Debug)]
struct Entry {
    exchange: Exchange,
    /// Odd while an exchange is here.
    generation: u32,
    /// The next one of its queue, or the next free place.
    next: u32,
}

/// Exchanges in a row. An exchange is in one queue at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queue {
    first: u32,
    last: u32,
    len: u32,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { first: NONE, last: NONE, len: 0 }
    }
}

impl Queue {
    pub(super) fn len(self) -> usize {
        self.len as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.first == NONE
    }
}

impl Slab {
    pub(super) fn new() -> Slab {
        Slab { entries: Vec::new(), free: NONE, live: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.live
    }

    pub(super) fn insert(&mut self, exchange: Exchange) -> ExchangeId {
        self.live += 1;
        let place = self.free;
        if let Some(entry) = self.entries.get_mut(place as usize) {
            self.free = entry.next;
            entry.exchange = exchange;
            entry.generation = entry.generation.wrapping_add(1);
            return ExchangeId { place, generation: entry.generation };
        }
        self.entries.push(Entry { exchange, generation: 1, next: NONE });
        ExchangeId { place: self.entries.len() as u32 - 1, generation: 1 }
    }

    /// The exchange of this name, unless it has ended.
    pub(super) fn get(&self, id: ExchangeId) -> Option<&Exchange> {
        let entry = self.entries.get(id.place as usize)?;
        (entry.generation == id.generation).then_some(&entry.exchange)
    }

    pub(super) fn get_mut(&mut self, id: ExchangeId) -> Option<&mut Exchange> {
        let entry = self.entries.get_mut(id.place as usize)?;
        (entry.generation == id.generation).then_some(&mut entry.exchange)
    }

    /// The exchange has ended: no other one will have its name.
    pub(super) fn free(&mut self, id: ExchangeId) {
        let entry = &mut self.entries[id.place as usize];
        debug_assert_eq!(entry.generation, id.generation, "the exchange has ended");
        entry.generation = entry.generation.wrapping_add(1);
        entry.next = self.free;
        self.free = id.place;
        self.live -= 1;
    }

    /// All that have not ended, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Exchange> {
        let live = self.entries.iter().filter(|entry| entry.generation % 2 == 1);
        live.map(|entry| &entry.exchange)
    }

    fn name(&self, place: u32) -> Option<ExchangeId> {
        let entry = self.entries.get(place as usize)?;
        Some(ExchangeId { place, generation: entry.generation })
    }

    pub(super) fn first(&self, queue: Queue) -> Option<ExchangeId> {
        self.name(queue.first)
    }

    pub(super) fn push_back(&mut self, queue: &mut Queue, id: ExchangeId) {
        self.entries[id.place as usize].next = NONE;
        match queue.last {
            NONE => queue.first = id.place,
            last => self.entries[last as usize].next = id.place,
        }
        queue.last = id.place;
        queue.len += 1;
    }

    pub(super) fn push_front(&mut self, queue: &mut Queue, id: ExchangeId) {
        self.entries[id.place as usize].next = queue.first;
        if queue.is_empty() {
            queue.last = id.place;
        }
        queue.first = id.place;
        queue.len += 1;
    }

    /// Puts an exchange before all that were intended to leave later.
    pub(super) fn insert_by_intended(&mut self, queue: &mut Queue, id: ExchangeId) {
        let intended = self[id].intended;
        let mut before = NONE;
        let mut next = queue.first;
        while next != NONE && self.entries[next as usize].exchange.intended <= intended {
            before = next;
            next = self.entries[next as usize].next;
        }
        if next == NONE {
            return self.push_back(queue, id);
        }
        if before == NONE {
            return self.push_front(queue, id);
        }
        self.entries[id.place as usize].next = next;
        self.entries[before as usize].next = id.place;
        queue.len += 1;
    }

    pub(super) fn pop_front(&mut self, queue: &mut Queue) -> Option<ExchangeId> {
        let id = self.name(queue.first)?;
        queue.first = self.entries[id.place as usize].next;
        if queue.is_empty() {
            queue.last = NONE;
        }
        queue.len -= 1;
        Some(id)
    }
}

/// Only for names of exchanges that have not ended.
impl Index<ExchangeId> for Slab {
    type Output = Exchange;

    fn index(&self, id: ExchangeId) -> &Exchange {
        let entry = &self.entries[id.place as usize];
        debug_assert_eq!(entry.generation, id.generation, "the exchange has ended");
        &entry.exchange
    }
}

impl IndexMut<ExchangeId> for Slab {
    fn index_mut(&mut self, id: ExchangeId) -> &mut Exchange {
        let entry = &mut self.entries[id.place as usize];
        debug_assert_eq!(entry.generation, id.generation, "the exchange has ended");
        &mut entry.exchange
    }
}

#[cfg(test)]
mod tests {
    use wire::Values;

    use super::*;

    fn exchange(intended: u64) -> Exchange {
        Exchange::new(intended, intended, Values::default())
    }

    #[test]
    fn a_name_of_an_exchange_that_ended_names_no_later_one() {
        let mut slab = Slab::new();
        let first = slab.insert(exchange(1));
        slab.free(first);
        let second = slab.insert(exchange(2));
        assert_eq!(second.place, first.place, "places are used again");
        assert!(slab.get(first).is_none() && slab.get_mut(first).is_none());
        assert_eq!((slab[second].intended, slab.len()), (2, 1));
    }

    #[test]
    fn queues_keep_their_order_and_live_exchanges_are_counted() {
        let mut slab = Slab::new();
        let ids: Vec<_> = (0..4).map(|at| slab.insert(exchange(at))).collect();
        let mut queue = Queue::default();
        slab.push_back(&mut queue, ids[1]);
        slab.push_back(&mut queue, ids[2]);
        slab.push_front(&mut queue, ids[0]);
        assert_eq!((queue.len(), slab.first(queue)), (3, Some(ids[0])));
        let mut popped = Vec::new();
        while let Some(id) = slab.pop_front(&mut queue) {
            popped.push(slab[id].intended);
            slab.free(id);
        }
        assert_eq!((popped, queue), (vec![0, 1, 2], Queue::default()));
        assert_eq!(slab.iter().map(|one| one.intended).collect::<Vec<_>>(), [3]);
        slab.push_front(&mut queue, ids[3]);
        assert_eq!((slab.pop_front(&mut queue), slab.pop_front(&mut queue)), (Some(ids[3]), None));
    }

    #[test]
    fn what_goes_out_again_is_put_in_the_order_of_intended_starts() {
        let mut slab = Slab::new();
        let ids: Vec<_> = [5, 1, 3, 3, 9].map(|at| slab.insert(exchange(at))).into();
        let mut queue = Queue::default();
        for &id in &ids {
            slab.insert_by_intended(&mut queue, id);
        }
        let mut popped = Vec::new();
        while let Some(id) = slab.pop_front(&mut queue) {
            popped.push(id);
        }
        assert_eq!(popped, [ids[1], ids[2], ids[3], ids[0], ids[4]]);
    }
}
