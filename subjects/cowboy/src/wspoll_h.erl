%% A text at once, and then one every so many seconds, for ever.
-module(wspoll_h).
-behaviour(cowboy_websocket).
-export([init/2, websocket_init/1, websocket_handle/2, websocket_info/2]).

init(Req, _) ->
    Ms = timer:seconds(cowboy_req:binding(seconds, Req)),
    {cowboy_websocket, Req, Ms, #{idle_timeout => infinity}}.

websocket_init(Ms) ->
    self() ! tick,
    {ok, Ms}.

websocket_handle(_, Ms) ->
    {ok, Ms}.

websocket_info(tick, Ms) ->
    erlang:send_after(Ms, self(), tick),
    {[{text, <<"tick">>}], Ms};
websocket_info(_, Ms) ->
    {ok, Ms}.
