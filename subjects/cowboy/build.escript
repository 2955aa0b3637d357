#!/usr/bin/env escript
%% Builds against the Cowboy that is there: on ERL_LIBS or in Erlang's own library folder, else RabbitMQ's of Debian, else
%% rebar.config's from Hex. What it took goes into `erl.args`, with which `run` starts Erlang.

main([]) ->
    Folders = installed(),
    case length(Folders) of
        3 -> compile(Folders);
        _ -> from_hex()
    end.

%% The folders of Cowboy and of what it needs.
installed() ->
    Folders = [code:lib_dir(Name) || Name <- [cowboy, cowlib, ranch]],
    case lists:member({error, bad_name}, Folders) of
        false ->
            [filename:join(Folder, "ebin") || Folder <- Folders];
        true ->
            Plugins = "/usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins/",
            lists:append([filelib:wildcard(Plugins ++ Name ++ "-*/ebin") || Name <- ["cowboy", "cowlib", "ranch"]])
    end.

compile(Folders) ->
    ok = code:add_pathsa(Folders),
    ok = filelib:ensure_dir("ebin/"),
    Sources = filelib:wildcard("src/*.erl"),
    up_to_date = make:files(Sources, [{outdir, "ebin"}, report, warnings_as_errors]),
    keep(["ebin" | Folders]).

from_hex() ->
    Output = os:cmd("rebar3 compile 2>&1"),
    case filelib:wildcard("_build/default/lib/*/ebin") of
        Folders when length(Folders) >= 4 -> keep(Folders);
        _ -> stop(Output)
    end.

keep(Folders) ->
    io:format("built against ~s~n", [lists:join(" ", Folders)]),
    ok = file:write_file("erl.args", ["-pa ", lists:join(" ", Folders), "\n"]).

stop(Output) ->
    io:format(standard_error, "~ts~n"
        "Cowboy is neither on ERL_LIBS nor in RabbitMQ's plugins, and rebar3 could not get it from Hex: "
        "apt-get install rabbitmq-server, or set ERL_LIBS to a folder with built cowboy, cowlib and ranch~n", [Output]),
    halt(1).
