%% Gives every message back.
-module(wsecho_h).
-behaviour(cowboy_websocket).
-export([init/2, websocket_handle/2, websocket_info/2]).

init(Req, State) ->
    {cowboy_websocket, Req, State}.

websocket_handle({text, Message}, State) ->
    {[{text, Message}], State};
websocket_handle({binary, Message}, State) ->
    {[{binary, Message}], State};
websocket_handle(_, State) ->
    {ok, State}.

websocket_info(_, State) ->
    {ok, State}.
