# dyno's subject for Starman: a PSGI application by itself.

use v5.14;
use warnings;

use Plack::Request;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

my $app = sub {
    my $env     = shift;
    my $request = Plack::Request->new($env);
    my $asked   = $request->method . ' ' . $request->path;

    # Starman does this itself on a connection without TLS.
    setsockopt $env->{'psgix.io'}, IPPROTO_TCP, TCP_NODELAY, 1 if $request->secure;

    return echo($request)                   if $asked eq 'GET /';
    return text('Hello, world!')            if $asked eq 'GET /hello';
    return text($1)                         if $asked =~ m{^GET /user/([^/]+)$};
    return text($request->content)          if $asked eq 'POST /user';
    return poll($1)                         if $asked =~ m{^GET /poll/([1-9][0-9]*)$};
    return $request->new_response(404)->finalize;
};

sub echo {
    my $request = shift;
    return $request->new_response(200)->finalize unless length $request->query_string;

    my $value  = $request->query_parameters->get('value');
    my $answer = defined $value ? "<value>$value</value>" : '<error>no value specified</error>';
    return [ 200, [ 'Content-Type' => 'text/xml' ], ["<http_test>$answer</http_test>"] ];
}

sub text {
    my $body = shift;
    return [ 200, [ 'Content-Type' => 'text/plain' ], [$body] ];
}

sub poll {
    my $seconds = shift;
    return sub {
        my $respond = shift;
        my $writer  = $respond->( [ 200, [ 'Content-Type' => 'text/plain' ] ] );
        while (1) {
            local $! = 0;
            $writer->write("tick\n");
            # Starman does not tell that the client has gone; what the kernel said is still here.
            last if $!{EPIPE};
            sleep $seconds;
        }
        $writer->close;
    };
}

$app;
