<?php
// Rows of PostgreSQL, by PDO: a connection that is kept from request to request by each of FPM's processes.

const WORLDS = 10000;

$url = getenv('DATABASE_URL');
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);

match ($url && $_SERVER['REQUEST_METHOD'] === 'GET' ? $path : null) {
    '/db' => json(worlds(connect($url), 1)[0]),
    '/queries' => json(worlds(connect($url), queries())),
    '/updates' => json(updated(connect($url), queries())),
    '/fortunes' => page(fortunes(connect($url))),
    default => http_response_code(404),
};

function connect(string $url): PDO
{
    $parts = parse_url($url);
    $name = ltrim($parts['path'], '/');
    return new PDO(
        "pgsql:host={$parts['host']};port={$parts['port']};dbname=$name",
        $parts['user'],
        $parts['pass'],
        [PDO::ATTR_PERSISTENT => true, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC],
    );
}

// What is not a number is 0 to PHP.
function queries(): int
{
    return min(max((int) ($_GET['queries'] ?? 1), 1), 500);
}

function worlds(PDO $database, int $count): array
{
    $read = reading($database);
    $rows = [];
    for ($i = 0; $i < $count; $i++) {
        $rows[] = world($read, number());
    }
    return $rows;
}

function updated(PDO $database, int $count): array
{
    $read = reading($database);
    $write = $database->prepare('UPDATE world SET randomnumber = ? WHERE id = ?');
    $rows = [];
    $database->beginTransaction();
    foreach (distinct_ids($count) as $id) {
        $row = world($read, $id);
        $row['randomNumber'] = number();
        $write->execute([$row['randomNumber'], $id]);
        $rows[] = $row;
    }
    $database->commit();
    return $rows;
}

function fortunes(PDO $database): array
{
    $rows = $database->query('SELECT id, message FROM fortune')->fetchAll();
    $rows[] = ['id' => 0, 'message' => 'Additional fortune added at request time.'];
    usort($rows, fn (array $a, array $b): int => strcmp($a['message'], $b['message']));
    return $rows;
}

function reading(PDO $database): PDOStatement
{
    return $database->prepare('SELECT id, randomnumber AS "randomNumber" FROM world WHERE id = ?');
}

function world(PDOStatement $read, int $id): array
{
    $read->execute([$id]);
    return $read->fetch();
}

// An id or a value: both are from 1 to 10,000.
function number(): int
{
    return mt_rand(1, WORLDS);
}

// In order, so that transactions lock rows in the same order.
function distinct_ids(int $count): array
{
    $ids = [];
    while (count($ids) < $count) {
        $ids[number()] = true;
    }
    ksort($ids);
    return array_keys($ids);
}

function json(array $value): void
{
    header('Content-Type: application/json');
    echo json_encode($value);
}

function page(array $fortunes): void
{
    header('Content-Type: text/html; charset=utf-8');
    echo '<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>',
        '<tr><th>id</th><th>message</th></tr>';
    foreach ($fortunes as ['id' => $id, 'message' => $message]) {
        echo "<tr><td>$id</td><td>", htmlspecialchars($message), '</td></tr>';
    }
    echo '</table></body></html>';
}
