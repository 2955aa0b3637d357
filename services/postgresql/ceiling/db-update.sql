\set id random(:least, :least + 1999)
\set number random(1, 10000)
SELECT id, randomnumber FROM world WHERE id = :id;
UPDATE world SET randomnumber = :number WHERE id = :id;
