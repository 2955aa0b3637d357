%% Misultin: one process reads a connection's requests, another one for each calls `answer/1`.
-module(dyno_misultin).
%% Misultin's way of speaking is `Req:ok(…)`; Erlang wants to be told since OTP 21.
-compile(tuple_calls).
-export([start/1, version/0]).

%% erl -run dyno_misultin start ADDRESS PORT
start([Address, Port]) ->
    {ok, Server} = misultin:start_link([
        {ip, Address},
        {port, list_to_integer(Port)},
        {backlog, 1024},
        {max_connections, 100000},
        {loop, fun answer/1}
    ]),
    %% The process that calls this one ends; the server does not.
    unlink(Server).

version() ->
    Version = proplists:get_value(vsn, misultin:module_info(attributes)),
    io:format("~s on OTP ~s~n", [Version, erlang:system_info(otp_release)]),
    halt().

answer(Req) ->
    answer(Req:get(method), Req:resource([urldecode]), Req).

answer('GET', [], Req) ->
    case Req:parse_qs() of
        [] -> Req:ok("");
        Variables -> xml(Req:get_variable("value", Variables), Req)
    end;
answer('GET', ["hello"], Req) ->
    Req:ok([{"Content-Type", "text/plain"}], "Hello, world!");
answer('GET', ["user", Id], Req) ->
    Req:ok([{"Content-Type", "text/plain"}], Id);
answer('POST', ["user"], Req) ->
    Req:ok([{"Content-Type", "text/plain"}], Req:get(body));
answer('GET', ["poll", Seconds], Req) ->
    Req:chunk(head, [{"Content-Type", "text/plain"}]),
    poll(timer:seconds(list_to_integer(Seconds)), Req);
answer(_, _, Req) ->
    Req:respond(404).

xml(undefined, Req) ->
    Req:ok([{"Content-Type", "text/xml"}], "<http_test><error>no value specified</error></http_test>");
xml(Value, Req) ->
    Req:ok([{"Content-Type", "text/xml"}], ["<http_test><value>", Value, "</value></http_test>"]).

%% Misultin ends this process when the client goes.
poll(Ms, Req) ->
    Req:chunk("tick\n"),
    timer:sleep(Ms),
    poll(Ms, Req).
