%% The answers that are whole at once.
-module(page_h).
-behaviour(cowboy_handler).
-export([init/2]).

init(Req0, Page) ->
    {ok, answer(cowboy_req:method(Req0), Page, Req0), Page}.

answer(<<"POST">>, post, Req0) ->
    {ok, Body, Req} = cowboy_req:read_body(Req0),
    plain(Body, Req);
answer(<<"GET">>, front, Req) ->
    case cowboy_req:parse_qs(Req) of
        [] -> cowboy_req:reply(200, Req);
        Variables -> xml(lists:keyfind(<<"value">>, 1, Variables), Req)
    end;
answer(<<"GET">>, hello, Req) ->
    plain(<<"Hello, world!">>, Req);
answer(<<"GET">>, user, Req) ->
    plain(cowboy_req:binding(id, Req), Req);
answer(_, _, Req) ->
    cowboy_req:reply(404, Req).

plain(Body, Req) ->
    cowboy_req:reply(200, #{<<"content-type">> => <<"text/plain">>}, Body, Req).

xml({_, Value}, Req) when is_binary(Value) ->
    xml_reply([<<"<http_test><value>">>, Value, <<"</value></http_test>">>], Req);
xml(_, Req) ->
    xml_reply(<<"<http_test><error>no value specified</error></http_test>">>, Req).

xml_reply(Body, Req) ->
    cowboy_req:reply(200, #{<<"content-type">> => <<"text/xml">>}, Body, Req).
