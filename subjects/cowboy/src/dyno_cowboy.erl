%% Cowboy: routes lead to handlers: `page_h` answers at once, `poll_h` and `wspoll_h` keep talking, `wsecho_h` talks back.
-module(dyno_cowboy).
-export([start/1, version/0]).

%% erl -run dyno_cowboy start ADDRESS PORT [CHAIN KEY]
start([Address, Port]) ->
    start(Address, Port, fun cowboy:start_clear/3, []);
start([Address, Port, Chain, Key]) ->
    start(Address, Port, fun cowboy:start_tls/3, [{certfile, Chain}, {keyfile, Key}]).

start(Address, Port, Listen, Tls) ->
    {ok, _} = application:ensure_all_started(cowboy),
    {ok, Ip} = inet:parse_address(Address),
    Dispatch = cowboy_router:compile([
        {'_', [
            {"/", page_h, front},
            {"/hello", page_h, hello},
            {"/user/:id", page_h, user},
            {"/user", page_h, post},
            {"/poll/:seconds", [{seconds, int}], poll_h, []},
            {"/wspoll/:seconds", [{seconds, int}], wspoll_h, []},
            {"/wsecho", wsecho_h, []}
        ]}
    ]),
    Transport = #{
        socket_opts => [{ip, Ip}, {port, list_to_integer(Port)} | Tls],
        max_connections => infinity
    },
    Protocol = #{
        env => #{dispatch => Dispatch},
        max_keepalive => 1_000_000_000,
        max_received_frame_rate => {1_000_000_000, 10_000}
    },
    {ok, _} = Listen(http, Transport, Protocol).

version() ->
    ok = application:load(cowboy),
    {ok, Version} = application:get_key(cowboy, vsn),
    io:format("~s on OTP ~s~n", [Version, erlang:system_info(otp_release)]),
    halt().
