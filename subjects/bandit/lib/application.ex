defmodule DynoBandit.Application do
  @moduledoc "Bandit under a supervisor, where ADDRESS and PORT say; with TLS if CERT and KEY name a chain and its key."
  use Application

  @impl true
  def start(_type, _args) do
    {:ok, ip} = "ADDRESS" |> System.fetch_env!() |> to_charlist() |> :inet.parse_address()
    port = "PORT" |> System.fetch_env!() |> String.to_integer()
    options = [plug: DynoBandit.Router, ip: ip, port: port] ++ tls(System.get_env("CERT"), System.get_env("KEY"))
    Supervisor.start_link([{Bandit, options}], strategy: :one_for_one)
  end

  defp tls(nil, _key), do: []
  defp tls(chain, key), do: [scheme: :https, certfile: chain, keyfile: key]
end
