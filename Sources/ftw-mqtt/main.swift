print("ftw-mqtt")
