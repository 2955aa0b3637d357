%% A chunk at once, and then one every so many seconds, for ever.
-module(poll_h).
-behaviour(cowboy_loop).
-export([init/2, info/3]).

init(Req0, _) ->
    Ms = timer:seconds(cowboy_req:binding(seconds, Req0)),
    Req = cowboy_req:stream_reply(200, #{<<"content-type">> => <<"text/plain">>}, Req0),
    %% Cowboy 2.8 counts a connection as idle while only the server talks.
    cowboy_req:cast({set_options, #{idle_timeout => infinity}}, Req),
    self() ! tick,
    {cowboy_loop, Req, Ms}.

info(tick, Req, Ms) ->
    cowboy_req:stream_body(<<"tick\n">>, nofin, Req),
    erlang:send_after(Ms, self(), tick),
    {ok, Req, Ms};
info(_, Req, Ms) ->
    {ok, Req, Ms}.
