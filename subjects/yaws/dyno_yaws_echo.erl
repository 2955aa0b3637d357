%% A WebSocket's callbacks: every message is given back.
-module(dyno_yaws_echo).
-export([handle_message/1]).

handle_message({text, Message}) -> {reply, {text, Message}};
handle_message({binary, Message}) -> {reply, {binary, Message}};
handle_message({close, Status, _Reason}) -> {close, Status}.
