<?php
// dyno's subject for PHP: a front controller, which gets every request.

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);

match (true) {
    asked('GET', '~^/$~', $path) => echo_value(),
    asked('GET', '~^/hello$~', $path) => text('Hello, world!'),
    asked('GET', '~^/user/([^/]+)$~', $path, $part) => text($part[1]),
    asked('POST', '~^/user$~', $path) => text(file_get_contents('php://input')),
    asked('GET', '~^/poll/([1-9]\d*)$~', $path, $part) => poll((int) $part[1]),
    default => http_response_code(404),
};

function asked(string $method, string $pattern, string $path, ?array &$part = null): bool
{
    return $_SERVER['REQUEST_METHOD'] === $method && preg_match($pattern, $path, $part);
}

function echo_value(): void
{
    if (!$_GET) {
        return;
    }
    header('Content-Type: text/xml');
    if (isset($_GET['value'])) {
        echo "<http_test><value>{$_GET['value']}</value></http_test>";
    } else {
        echo '<http_test><error>no value specified</error></http_test>';
    }
}

function text(string $body): void
{
    header('Content-Type: text/plain');
    echo $body;
}

function poll(int $seconds): void
{
    header('Content-Type: text/plain');
    // php.ini may have PHP collect its output.
    while (ob_get_level()) {
        ob_end_flush();
    }
    while (!connection_aborted()) {
        echo "tick\n";
        flush();
        sleep($seconds);
    }
}
