%% What an Erlang virtual machine knows of itself, told to the lab while it works.
%%
%% Loaded by ERL_AFLAGS alone, so that no subject knows of it. It connects to the Unix socket DYNO_PROBE_SOCKET and sends
%% one line every DYNO_PROBE_PERIOD_MS: `name=number` pairs with a space between, counts since the machine's start unless
%% said otherwise. Without that variable it does nothing, and when the socket goes it ends. It listens nowhere.
%%
%% It costs 0.1 ms a line (idle, with the schedulers' turning before they sleep, 0.4 ms: half a percent of a CPU at 100 ms)
%% and 2 MB; its own lines, 400 bytes each, are in `beam.io.out_bytes`.
-module(dyno_probe).
-export([start/0]).

%% Called from the machine's start, which must neither wait for the lab nor fail with it.
start() ->
    case os:getenv("DYNO_PROBE_SOCKET") of
        false -> ok;
        Path -> spawn_probe(Path, period_ms(os:getenv("DYNO_PROBE_PERIOD_MS", "100")))
    end.

period_ms(Text) ->
    case string:to_integer(Text) of
        {Ms, ""} when Ms > 0 -> Ms;
        _ -> 100
    end.

%% At high priority, or a machine that is busy would be silent when it matters.
spawn_probe(Path, PeriodMs) ->
    spawn_opt(fun() -> quietly(fun() -> connect(Path, PeriodMs) end) end, [{priority, high}]),
    ok.

%% What goes wrong here is nothing for the subject's log.
quietly(Fun) ->
    try Fun() catch _:_ -> ok end.

connect(Path, PeriodMs) ->
    Options = [local, binary, {active, false}, {send_timeout, 5000}, {send_timeout_close, true}],
    {ok, Socket} = gen_tcp:connect({local, Path}, 0, Options, 5000),
    %% The flag is on for as long as the process that set it lives.
    erlang:system_flag(scheduler_wall_time, true),
    report(Socket, PeriodMs, now_ms() + PeriodMs, wall_times()).

report(Socket, PeriodMs, DueMs, Before) ->
    case gen_tcp:recv(Socket, 0, max(0, DueMs - now_ms())) of
        {error, timeout} ->
            After = wall_times(),
            ok = gen_tcp:send(Socket, line(Before, After)),
            %% Periods that a stalled machine missed are not made up for.
            report(Socket, PeriodMs, max(DueMs + PeriodMs, now_ms()), After);
        {ok, _} ->
            report(Socket, PeriodMs, DueMs, Before);
        {error, _} ->
            gen_tcp:close(Socket)
    end.

now_ms() ->
    erlang:monotonic_time(millisecond).

%% The normal schedulers that are online: the dirty ones come after them.
wall_times() ->
    Online = erlang:system_info(schedulers_online),
    [Time || {Id, _, _} = Time <- lists:sort(erlang:statistics(scheduler_wall_time)), Id =< Online].

line(Before, After) ->
    Memory = erlang:memory([total, processes, binary, ets, code]),
    {{input, In}, {output, Out}} = erlang:statistics(io),
    {Reductions, _} = erlang:statistics(reductions),
    {Collections, Words, _} = erlang:statistics(garbage_collection),
    {Switches, _} = erlang:statistics(context_switches),
    Busy = utilisations(Before, After),
    Pairs =
        [["beam.memory.", atom_to_list(Kind), "_bytes=", integer_to_list(Bytes)] || {Kind, Bytes} <- Memory] ++
        [
            ["beam.run_queue=", integer_to_list(erlang:statistics(total_run_queue_lengths))],
            ["beam.scheduler.utilisation_ratio=", share(lists:sum(Busy) / length(Busy))],
            ["beam.scheduler.utilisation_max_ratio=", share(lists:max(Busy))],
            ["beam.io.in_bytes=", integer_to_list(In)],
            ["beam.io.out_bytes=", integer_to_list(Out)],
            ["beam.reductions=", integer_to_list(Reductions)],
            ["beam.processes=", integer_to_list(erlang:system_info(process_count))],
            ["beam.ports=", integer_to_list(erlang:system_info(port_count))],
            ["beam.gc.count=", integer_to_list(Collections)],
            ["beam.gc.words=", integer_to_list(Words)],
            ["beam.context_switches=", integer_to_list(Switches)]
        ],
    [lists:join($\s, Pairs), $\n].

%% What part of the time between the two readings each scheduler worked.
utilisations(Before, After) ->
    [
        (Active - Active0) / max(1, Total - Total0)
     || {{Id, Active0, Total0}, {Id, Active, Total}} <- lists:zip(common(Before, After), common(After, Before))
    ].

%% The readings of the schedulers that are in the others, too: one may have come online in between.
common(Times, Others) ->
    [Time || {Id, _, _} = Time <- Times, lists:keymember(Id, 1, Others)].

share(Part) ->
    float_to_list(Part, [{decimals, 4}]).
