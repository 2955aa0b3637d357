defmodule DynoBandit.Application do
  @moduledoc "Bandit under a supervisor, where ADDRESS and PORT say."
  use Application

  @impl true
  def start(_type, _args) do
    {:ok, ip} = "ADDRESS" |> System.fetch_env!() |> to_charlist() |> :inet.parse_address()
    port = "PORT" |> System.fetch_env!() |> String.to_integer()

    Supervisor.start_link([{Bandit, plug: DynoBandit.Router, ip: ip, port: port}], strategy: :one_for_one)
  end
end
