\set id random(1, 10000)
SELECT id, randomnumber FROM world WHERE id = :id;
