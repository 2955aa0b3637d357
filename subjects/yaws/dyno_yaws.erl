%% Yaws, embedded: an appmod on `/` gets every request and returns what is to be answered.
-module(dyno_yaws).
-export([start/1, version/0]).
-export([out/1]).
-export([init/1, handle_open/2, handle_message/2, handle_info/2]).

-include("yaws_api.hrl").

%% erl -run dyno_yaws start ADDRESS PORT FOLDER [CHAIN KEY]: Yaws wants a folder for documents and one for its logs.
start([Address, Port, Folder]) ->
    start(Address, Port, Folder, []);
start([Address, Port, Folder, Chain, Key]) ->
    {ok, _} = application:ensure_all_started(ssl),
    start(Address, Port, Folder, [{ssl, [{certfile, Chain}, {keyfile, Key}]}]).

start(Address, Port, Folder, Tls) ->
    {ok, Ip} = inet:parse_address(Address),
    Global = [{id, "dyno"}, {logdir, Folder}],
    Server = [
        {servername, "dyno"},
        {listen, Ip},
        {port, list_to_integer(Port)},
        {docroot, Folder},
        {flags, [{access_log, false}]},
        {appmods, [{"/", ?MODULE}]}
        | Tls
    ],
    ok = yaws:start_embedded(Folder, Server, Global, "dyno").

version() ->
    ok = application:load(yaws),
    {ok, Version} = application:get_key(yaws, vsn),
    io:format("~s on OTP ~s~n", [Version, erlang:system_info(otp_release)]),
    halt().

out(#arg{req = #http_request{method = Method}, appmoddata = Path} = Arg) ->
    answer(Method, string:split(Path, "/", all), Arg).

answer('GET', [""], Arg) ->
    case yaws_api:parse_query(Arg) of
        [] -> {status, 200};
        Variables -> {content, "text/xml", xml(lists:keyfind("value", 1, Variables))}
    end;
answer('GET', ["hello"], _) ->
    {content, "text/plain", "Hello, world!"};
answer('GET', ["user", Id], _) ->
    {content, "text/plain", Id};
answer('POST', ["user"], Arg) ->
    post(Arg);
answer('GET', ["poll", Seconds], _) ->
    Connection = self(),
    spawn(fun() -> poll(Connection, timer:seconds(list_to_integer(Seconds))) end),
    {streamcontent_with_timeout, "text/plain", "tick\n", infinity};
answer('GET', ["wspoll", Seconds], _) ->
    {websocket, ?MODULE, [{callback, {basic, timer:seconds(list_to_integer(Seconds))}}]};
answer('GET', ["wsecho"], _) ->
    {websocket, dyno_yaws_echo, []};
answer(_, _, _) ->
    {status, 404}.

xml({_, Value}) when is_list(Value) -> ["<http_test><value>", Value, "</value></http_test>"];
xml(_) -> "<http_test><error>no value specified</error></http_test>".

%% Yaws hands a large body over in parts of 10 KB, and keeps what came so far in `state`.
post(#arg{clidata = {partial, Part}, state = State}) -> {get_more, undefined, [so_far(State), Part]};
post(#arg{clidata = Last, state = State}) -> {content, "text/plain", [so_far(State), Last]}.

so_far(undefined) -> [];
so_far(Parts) -> Parts.

%% Talks until the connection's process ends.
poll(Connection, Ms) ->
    Monitor = monitor(process, Connection),
    poll(Connection, Monitor, Ms).

poll(Connection, Monitor, Ms) ->
    receive
        {'DOWN', Monitor, process, Connection, _} -> ok
    after Ms ->
        yaws_api:stream_chunk_deliver(Connection, "tick\n"),
        poll(Connection, Monitor, Ms)
    end.

%% The WebSocket's callbacks.

init([_Arg, Ms]) -> {ok, Ms}.

handle_open(_WebSocket, Ms) ->
    self() ! tick,
    {ok, Ms}.

handle_message({close, Status, _Reason}, _Ms) -> {close, Status};
handle_message(_, Ms) -> {noreply, Ms}.

handle_info(tick, Ms) ->
    erlang:send_after(Ms, self(), tick),
    {reply, {text, <<"tick">>}, Ms};
handle_info(_, Ms) ->
    {noreply, Ms}.
