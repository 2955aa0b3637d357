require_relative 'app'

# Puma ends when its last answer has, and an endless one never does.
Signal.trap('TERM') { exit!(true) }

run App
