//! The data set of which servers answer a part as JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chance::Chance;
use crate::json::Json;

/// Fifty items, determined by a seed, in the form of HttpArena's `dataset.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Dataset {
    seed: u64,
    pub(crate) items: Arc<[Item]>,
}

#[derive(Debug)]
pub(crate) struct Item {
    id: i64,
    name: String,
    category: &'static str,
    price: i64,
    quantity: i64,
    active: bool,
    tags: Vec<&'static str>,
    score: i64,
    ratings: i64,
}

const CATEGORIES: [&str; 5] = ["electronics", "books", "home & garden", "toys", "sports"];
const TAGS: [&str; 8] =
    ["new", "fast", "sale", "rare", "gift", "eco", "<b>bold</b>", "2nd \"hand\""];
const KINDS: [&str; 6] = ["Widget", "Lamp", "Café table", "Drill", "Kite", "Atlas"];
const MAKES: [&str; 6] = ["Alpha", "Brio", "Corvus", "Delta", "Élan", "Fjord"];

impl Dataset {
    /// How many items there are.
    pub const ITEMS: u32 = 50;

    #[must_use]
    pub fn of(seed: u64) -> Dataset {
        let mut chance = Chance::new(seed);
        Dataset {
            seed,
            items: (1..=Dataset::ITEMS).map(|id| Item::draw(id, &mut chance)).collect(),
        }
    }

    /// The file that a server reads.
    #[must_use]
    pub fn to_json(&self) -> String {
        let items = self.items.iter().map(|item| Json::object(item.members())).collect();
        serde_json::to_string(&Json::List(items)).unwrap_or_default()
    }
}

impl Default for Dataset {
    fn default() -> Dataset {
        Dataset::of(0)
    }
}

impl PartialEq for Dataset {
    fn eq(&self, other: &Dataset) -> bool {
        self.seed == other.seed
    }
}

impl From<Dataset> for u64 {
    fn from(dataset: Dataset) -> u64 {
        dataset.seed
    }
}

impl From<u64> for Dataset {
    fn from(seed: u64) -> Dataset {
        Dataset::of(seed)
    }
}

impl Item {
    fn draw(id: u32, chance: &mut Chance) -> Item {
        let first = chance.below(TAGS.len());
        Item {
            id: id.into(),
            name: format!("{} {}", MAKES[chance.below(6)], KINDS[chance.below(6)]),
            category: CATEGORIES[chance.below(5)],
            price: 1 + chance.below(500) as i64,
            quantity: 1 + chance.below(100) as i64,
            active: chance.below(2) == 0,
            tags: (first..=first + chance.below(3)).map(|at| TAGS[at % TAGS.len()]).collect(),
            score: 10 + chance.below(41) as i64,
            ratings: 1 + chance.below(500) as i64,
        }
    }

    fn members(&self) -> [(&'static str, Json); 8] {
        let text = |text: &str| Json::Text(text.into());
        let rating = [("score", Json::Integer(self.score)), ("count", Json::Integer(self.ratings))];
        [
            ("id", Json::Integer(self.id)),
            ("name", text(&self.name)),
            ("category", text(self.category)),
            ("price", Json::Integer(self.price)),
            ("quantity", Json::Integer(self.quantity)),
            ("active", Json::Bool(self.active)),
            ("tags", Json::List(self.tags.iter().map(|tag| text(tag)).collect())),
            ("rating", Json::object(rating)),
        ]
    }

    pub(crate) fn with_total(&self, times: u32) -> Json {
        let total = Json::Integer(self.price * self.quantity * i64::from(times));
        Json::object(self.members().into_iter().chain([("total", total)]))
    }
}
